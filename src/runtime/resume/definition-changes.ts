import { type AgentSpec, type AgentTrust, childLimits, type Diagnostic } from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'
import type { ToolRegistry } from '../../steps/index.ts'
import { readOutputName } from '../../tools/index.ts'
import { canonicalJson, plainJson } from '../../util/json-values.ts'
import type { RuntimeParts } from '../api/runtime-parts.ts'

/** What has changed since a session was last driven. The recorded definition stays in force. */
export function definitionChanges(parts: RuntimeParts, state: SessionState, registry: ToolRegistry): readonly Diagnostic[] {
  const whose = state.parent ? state.agentPath : 'this session'
  const now = parts.options.config.agents.find(({ name }) => name === state.agent.name)
  const found: Diagnostic[] = state.tools
    .filter((name) => !registry.find(name))
    .map((name) => ({
      code: 'tool_missing',
      severity: 'warning',
      message: `The tool "${name}" of ${whose} no longer exists.`,
      remedy: 'Its calls fail. Restore the tool to continue as before.',
    }))
  found.push(...skillChanges(state, now, whose))
  const trust = parts.options.config.trust.get(state.agent.name)
  found.push(...trustChanges(withheldTools(parts, state, registry), { state, now, trust, whose }))
  if (
    !now ||
    hasChanged(state, differsByTrustOnly(state, trust) ? { ...now, tools: state.agent.tools, agents: state.agent.agents } : now)
  ) {
    found.push({
      code: 'agent_changed',
      severity: 'info',
      message: state.parent
        ? `The agent "${state.agent.name}" has changed since ${whose} began; that session keeps the old definition.`
        : `The agent "${state.agent.name}" has changed since this session began; the session keeps the old definition.`,
    })
  }
  // Grants of a child belong to the root, too: reported once.
  if (!state.parent && hasVoidGrants(parts, state)) {
    found.push({
      code: 'policy_changed',
      severity: 'warning',
      message: `Sandbox, hooks or rules have changed since approvals were given for this session. The approvals were revoked.`,
      remedy: 'Approve the calls again.',
    })
  }
  return found
}

/** Tools that a session began with, and that its agent does not have without trust. */
export function withheldTools(
  { options: { config }, sessionSetup }: Pick<RuntimeParts, 'options' | 'sessionSetup'>,
  { agent, tools }: SessionState,
  registry: ToolRegistry,
): readonly string[] {
  const now = config.agents.find(({ name }) => name === agent.name)
  if (!now || config.trust.get(agent.name)?.isGiven !== false) return []
  const left = new Set(sessionSetup.effective(now, registry).tools)
  return tools.filter((name) => !left.has(name) && name !== readOutputName)
}

/** Whether only the trust in the agent has changed its tools. */
const differsByTrustOnly = ({ agent }: SessionState, trust: AgentTrust | undefined): boolean =>
  trust !== undefined && JSON.stringify(agent.tools) === JSON.stringify(trust.toolsOtherwise)

interface ChangeContext {
  readonly state: SessionState
  readonly now: AgentSpec | undefined
  readonly trust: AgentTrust | undefined
  readonly whose: string
}

function trustChanges(withheld: readonly string[], { state, now, trust, whose }: ChangeContext): readonly Diagnostic[] {
  if (!trust || !now) return []
  const { place, remedy } = trust
  if (withheld.length > 0)
    return [
      {
        code: 'tools_withheld',
        severity: 'warning',
        message: `${place} is not trusted, unlike when ${whose} began: ${withheld.join(', ')} are refused now.`,
        ...(remedy !== undefined && { remedy }),
      },
    ]
  if (!trust.isGiven || !differsByTrustOnly(state, trust) || JSON.stringify(now.tools) === JSON.stringify(state.agent.tools)) return []
  return [
    {
      code: 'tools_withheld',
      severity: 'info',
      message: `${place} has been trusted since ${whose} began, which keeps the tools that it began with.`,
      remedy: 'A new run has all of them.',
    },
  ]
}

/** Approvals are void under another policy. */
export const hasVoidGrants = ({ policy }: Pick<RuntimeParts, 'policy'>, state: SessionState): boolean =>
  state.policy !== policy && state.grants.length > 0

/** A session records the card of a skill; the text is read when the skill is loaded. */
function skillChanges({ agent }: SessionState, now: AgentSpec | undefined, whose: string): readonly Diagnostic[] {
  if (!now) return []
  return (agent.skills ?? []).flatMap(({ name, hash }): readonly Diagnostic[] => {
    const there = now.skills?.find((skill) => skill.name === name)
    if (there?.hash === hash) return []
    if (there)
      return [
        {
          code: 'skill_changed',
          severity: 'warning',
          message: `The skill "${name}" of ${whose} has changed. Its current version is loaded.`,
        },
      ]
    return [
      {
        code: 'skill_missing',
        severity: 'warning',
        message: `The skill "${name}" of ${whose} no longer exists.`,
        remedy: 'Loading it fails. Restore the skill to continue as before.',
      },
    ]
  })
}

/** Compares without the default limits of children, and without the list of skills behind the prompt. */
function hasChanged({ agent, parent }: SessionState, now: AgentSpec): boolean {
  const limits = parent ? { ...childLimits, ...now.limits } : now.limits
  const isSamePrompt = agent.skills ? agent.prompt.startsWith(now.prompt) : agent.prompt === now.prompt
  return !isSamePrompt || !isSame(bare({ ...now, limits }), bare(agent))
}

/** Rules and sandbox of a child include those of its parents. */
function bare({ prompt: _, skills: __, bounds: ___, sandbox: ____, ...rest }: AgentSpec): object {
  return rest
}

/** The order of keys does not matter; mostly it is the same. */
const isSame = (a: object, b: object): boolean =>
  JSON.stringify(a) === JSON.stringify(b) || canonicalJson(plainJson(a)) === canonicalJson(plainJson(b))
