import type { AgentSpec, Confinement, Diagnostic, Problem, Sandbox } from '../../contracts/index.ts'
import { isRecord } from '../../util/option-problems.ts'

// Walls that an agent wants are put up by the sandbox of the runtime. Tools of a program may know nothing of them, so where
// there is no sandbox an agent that requires walls is not started, and of one that only names what they let through it is told.

const remedy = 'Give the runtime a `sandbox`, such as that of `workspaceTools` of `troupe/acting`, or take `sandbox` out of the agent.'

/** The configuration and the sandbox as they were given: either may be wrong in any other way. */
export function missingSandboxProblems(config: unknown, sandbox: Partial<Sandbox> | undefined): readonly Problem[] {
  if (!isRecord(config) || (sandbox !== undefined && sandbox?.confinement?.kind !== 'none')) return []
  const agents: readonly unknown[] = Array.isArray(config.agents) ? config.agents : []
  if (!Array.isArray(config.tools) || config.tools.length === 0) return []
  return agents.flatMap((agent, index) => {
    if (!isRecord(agent) || !isRecord(agent.sandbox) || agent.sandbox.mode !== 'required' || !actsAmong(agents, agent)) return []
    return [{ place: `config.agents[${index}].sandbox.mode`, message: 'it requires walls, and the runtime has none', remedy }]
  })
}

/** Whether it has tools, or calls somebody who has: children are behind the walls of those who call them. */
function actsAmong(agents: readonly unknown[], agent: object, known = new Set<object>()): boolean {
  if (known.has(agent)) return false
  known.add(agent)
  const { tools, agents: children } = agent as { readonly tools?: unknown; readonly agents?: unknown }
  if (!Array.isArray(tools) || tools.length > 0) return true
  return agents.some((each) => isRecord(each) && Array.isArray(children) && children.includes(each.name) && actsAmong(agents, each, known))
}

/** What is told of an agent with tools that says what walls are to be like, where nothing can make them so. */
export function sandboxNotice({ name, sandbox: wanted }: AgentSpec, confinement: Confinement): Diagnostic | undefined {
  const { mode, ...limits } = wanted ?? {}
  const named = Object.keys(limits)
  if (named.length === 0 || mode === 'off' || (confinement.kind === 'sandbox' && confinement.policy)) return undefined
  const wish = `"${name}" says what walls are to be like (sandbox: ${named.join(', ')})`
  const message =
    confinement.kind === 'none'
      ? `${wish}, and the runtime has none: its calls run without walls.`
      : `${wish}, and the sandbox "${confinement.name}" has no policy that could be made stricter: its walls stay as they are.`
  return { code: 'sandbox_missing', severity: 'warning', message, remedy }
}
