import type { AgentSpec, Confinement, Diagnostic, Problem, Sandbox } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'

// The sandbox of the runtime enforces the sandbox settings of agents. Without one, an agent that requires a sandbox is refused,
// and an agent that only restricts it gets a warning.

const remedy = 'Pass a `sandbox` to the runtime, such as that of `workspaceTools` of `troupe/tools`, or remove `sandbox` from the agent.'

/** Agents that require a sandbox when the runtime has none. Configuration and sandbox may be wrong in other ways. */
export function missingSandboxProblems(config: unknown, sandbox: Partial<Sandbox> | undefined): readonly Problem[] {
  if (!isRecord(config) || (sandbox !== undefined && sandbox?.confinement?.kind !== 'none')) return []
  const agents: readonly unknown[] = Array.isArray(config.agents) ? config.agents : []
  if (!Array.isArray(config.tools) || config.tools.length === 0) return []
  return agents.flatMap((agent, index) => {
    if (!isRecord(agent) || !isRecord(agent.sandbox) || agent.sandbox.mode !== 'required' || !hasTools(agents, agent)) return []
    return [{ place: `config.agents[${index}].sandbox.mode`, message: 'the agent requires a sandbox, and the runtime has none', remedy }]
  })
}

/** Whether an agent or one of its descendants has tools: children inherit the sandbox of their parent. */
function hasTools(agents: readonly unknown[], agent: object, seen = new Set<object>()): boolean {
  if (seen.has(agent)) return false
  seen.add(agent)
  const { tools, agents: children } = agent as { readonly tools?: unknown; readonly agents?: unknown }
  if (!Array.isArray(tools) || tools.length > 0) return true
  return agents.some((each) => isRecord(each) && Array.isArray(children) && children.includes(each.name) && hasTools(agents, each, seen))
}

/** A warning for an agent whose sandbox settings nothing can enforce. */
export function sandboxNotice({ name, sandbox: wanted }: AgentSpec, confinement: Confinement): Diagnostic | undefined {
  const { mode, ...limits } = wanted ?? {}
  const keys = Object.keys(limits)
  if (keys.length === 0 || mode === 'off' || (confinement.kind === 'sandbox' && confinement.policy)) return undefined
  const settings = `"${name}" sets ${keys.map((key) => `sandbox.${key}`).join(', ')}`
  const message =
    confinement.kind === 'none'
      ? `${settings}, but the runtime has no sandbox: its calls run without one.`
      : `${settings}, but the sandbox "${confinement.name}" has no policy to restrict: the settings have no effect.`
  return { code: 'sandbox_missing', severity: 'warning', message, remedy }
}
