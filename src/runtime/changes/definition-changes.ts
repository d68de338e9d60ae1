import { type AgentSpec, childLimits, type Diagnostic } from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'
import type { ToolRegistry } from '../../steps/index.ts'
import { readOutputName } from '../../tools/index.ts'
import { isSameList } from '../../util/is-same-list.ts'
import { haveSameJson } from '../../util/json-values.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'
import { withCallerSettings } from './reconfigure-session.ts'

const warning = (code: Diagnostic['code'], message: string, remedy?: string): Diagnostic => ({
  code,
  severity: 'warning',
  message,
  ...(remedy !== undefined && { remedy }),
})

/** What has changed since a session was last driven. The recorded definition stays in force. */
export function definitionChanges(
  parts: RuntimeParts,
  state: SessionState,
  { registry, isPinned }: { readonly registry: ToolRegistry; readonly isPinned: boolean },
): readonly Diagnostic[] {
  // Its next turn begins with what there is now.
  if (!state.parent && !isPinned && state.turn.kind !== 'open') return voidGrants(parts, state)
  const { agent, parent, agentPath } = state
  const whose = parent ? agentPath : 'this session'
  const now = parts.agents.get(agent.name)
  const trust = parts.options.config.trust.get(agent.name)
  const found = state.tools
    .filter((name) => !registry.find(name))
    .map((name) =>
      warning(
        'tool_missing',
        `The tool "${name}" of ${whose} no longer exists.`,
        'Its calls fail. Restore the tool to continue as before.',
      ),
    )
  if (now) found.push(...skillChanges(agent, now, whose))
  const isByTrust = trust !== undefined && isSameList(agent.tools, trust.toolsOtherwise)
  const withheld = withheldTools(parts, state, registry)
  if (trust && withheld.length > 0)
    found.push(
      warning(
        'tools_withheld',
        `${trust.place} is not trusted, unlike when ${whose} began: ${withheld.join(', ')} are refused now.`,
        trust.remedy,
      ),
    )
  else if (trust?.isGiven && now && isByTrust && !isSameList(now.tools, agent.tools))
    found.push({
      code: 'tools_withheld',
      severity: 'info',
      message: `${trust.place} has been trusted since ${whose} began, which keeps the tools that it began with.`,
      remedy: 'A new run has all of them.',
    })
  if (!now || hasChanged(state, isByTrust ? { ...now, tools: agent.tools, agents: agent.agents } : now)) {
    const keeps = parent ? 'that session keeps' : isPinned ? 'the session keeps' : 'this turn keeps'
    const message = `The agent "${agent.name}" has changed since ${whose} began; ${keeps} the old definition.`
    found.push({ code: 'agent_changed', severity: 'info', message })
  }
  return [...found, ...voidGrants(parts, state)]
}

/** Grants of a child belong to the root, too: reported once. */
function voidGrants(parts: RuntimeParts, state: SessionState): readonly Diagnostic[] {
  if (state.parent || !hasVoidGrants(parts, state)) return []
  const message = 'Sandbox, hooks or rules have changed since approvals were given for this session. The approvals were revoked.'
  return [warning('policy_changed', message, 'Approve the calls again.')]
}

/** Tools that a session began with, and that its agent does not have without trust. */
export function withheldTools(
  { options: { config }, sessionSetup, agents }: RuntimeParts,
  { agent, tools }: SessionState,
  registry: ToolRegistry,
): readonly string[] {
  const now = agents.get(agent.name)
  if (!now || config.trust.get(agent.name)?.isGiven !== false) return []
  const left = new Set(sessionSetup.effective(now, registry).tools)
  return tools.filter((name) => !left.has(name) && name !== readOutputName)
}

/** Approvals are void under another policy. */
export const hasVoidGrants = ({ policy }: Pick<RuntimeParts, 'policy'>, state: SessionState): boolean =>
  state.policy !== policy && state.grants.length > 0

/** A session records the card of a skill; the text is read when the skill is loaded. */
function skillChanges({ skills = [] }: AgentSpec, now: AgentSpec, whose: string): readonly Diagnostic[] {
  return skills.flatMap(({ name, hash }) => {
    const there = now.skills?.find((skill) => skill.name === name)
    if (there?.hash === hash) return []
    if (there) return [warning('skill_changed', `The skill "${name}" of ${whose} has changed. Its current version is loaded.`)]
    const remedy = 'Loading it fails. Restore the skill to continue as before.'
    return [warning('skill_missing', `The skill "${name}" of ${whose} no longer exists.`, remedy)]
  })
}

/** Compares without the settings of the caller, the default limits of children, and the list of skills behind the prompt. */
function hasChanged(state: SessionState, definition: AgentSpec): boolean {
  const { agent, parent } = state
  const now = withCallerSettings(definition, state)
  const limits = parent ? { ...childLimits, ...now.limits } : now.limits
  const isSamePrompt = agent.skills ? agent.prompt.startsWith(now.prompt) : agent.prompt === now.prompt
  return !isSamePrompt || !haveSameJson(bare(asRecorded({ ...now, limits }, agent)), bare(agent))
}

/** Rules and sandbox of a child include those of its parents. The reasons of rules are texts of this version. */
function bare({ prompt: _, skills: __, bounds: ___, sandbox: ____, approvals, ...rest }: AgentSpec): object {
  return { ...rest, approvals: approvals?.map(({ reason: _____, ...rule }) => rule) }
}

/** A definition as the version that wrote the journal recorded it: earlier ones had no `saysToolTimeout`, and `text` as the default. */
function asRecorded({ saysToolTimeout, ...now }: AgentSpec, agent: AgentSpec): AgentSpec {
  const isDefault = now.output.format === 'markdown' && agent.output.format === 'text'
  return { ...now, ...(isDefault && { output: agent.output }), ...(saysToolTimeout && agent.saysToolTimeout && { saysToolTimeout }) }
}
