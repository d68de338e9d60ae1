import type { AgentSpec } from '../../contracts/index.ts'
import { type ActiveSession, withClientTools } from '../../steps/index.ts'
import { haveSameJson } from '../../util/json-values.ts'
import { messageOf } from '../../util/message-of.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'
import { withCallerSettings, withNewSettings } from './reconfigure-session.ts'

interface Adoption {
  readonly isPinned: boolean
  /** The caller has set something since the last turn. */
  readonly hasNewSettings: boolean
}

/**
 * Lets the next turn of a root begin with the current definition of its agent, or with the recorded one if it is pinned. What the caller
 * of the session set stays. A definition that cannot be used is reported, and the session keeps the one before.
 */
export async function adoptDefinitions(session: ActiveSession, parts: RuntimeParts, { isPinned, hasNewSettings }: Adoption): Promise<void> {
  const { state } = session
  const definition = parts.agents.get(state.agent.name)
  const wanted = isPinned ? withNewSettings(state) : definition && withCallerSettings(definition, state)
  const problem = wanted ? await modelProblem(parts, wanted) : `The agent "${state.agent.name}" no longer exists.`
  if (!wanted || problem !== undefined) {
    await parts.models.resolve(state.agent)
    const message = `${problem} The session keeps its last definition.`
    return session.note({ type: 'interaction.diagnostic', diagnostic: { code: 'agent_changed', severity: 'warning', message } })
  }
  // A recorded prompt has the list of skills.
  const agent = isPinned ? wanted : parts.sessionSetup.withSkillList(wanted)
  const registry = withClientTools(await parts.toolsFor(state.treeId, agent), agent, session.state.changes)
  if (session.isReleased) return
  session.ports = { ...session.ports, registry }
  session.withheld = new Set()
  const effective = parts.sessionSetup.effective(agent, registry, agent.limits.maxCostUsd !== undefined)
  const isSame = haveSameJson(state.agent, agent)
  if (isSame && haveSameJson(effective.tools, state.tools)) return
  const { tools, promptChars, prices, windows, maxOutputs } = effective
  session.note({
    type: 'interaction.session.configured',
    agent,
    tools,
    promptChars,
    ...(prices && { prices }),
    ...(windows && { windows }),
    ...(maxOutputs && { maxOutputs }),
    reason: isSame ? 'The tools have changed.' : hasNewSettings ? 'The settings have changed.' : 'The definitions have changed.',
  })
}

async function modelProblem({ models }: RuntimeParts, agent: AgentSpec): Promise<string | undefined> {
  try {
    await models.resolve(agent)
    models.checkPrices(agent, agent.limits.maxCostUsd !== undefined)
  } catch (error) {
    return `The agent "${agent.name}" has changed and cannot be used: ${messageOf(error)}`
  }
}
