import { type AgentSpec, type Confinement, defaultSandboxPolicy, type SandboxPolicy } from '../../contracts/index.ts'
import { mergeSandbox } from '../../policy/merge-sandbox.ts'
import type { ActiveSession } from '../loop/active-session.ts'

/** How calls of a session are confined. */
export const confinementOf = ({ ports, state }: ActiveSession): Confinement => confinementFor(state.agent, ports.sandbox.confinement)

/** As the runtime says, and where the agent wants it, more tightly. */
export function confinementFor({ sandbox: wanted }: Pick<AgentSpec, 'sandbox'>, confinement: Confinement): Confinement {
  if (!wanted) return confinement
  // There are no walls, and this agent wants some: it has them or runs nothing.
  if (confinement.kind === 'none' && wanted.mode === 'required')
    return { kind: 'sandbox', name: 'required by the agent', policy: restrictPolicy(defaultSandboxPolicy, wanted) }
  if (confinement.kind === 'none' || !confinement.policy) return confinement
  return { ...confinement, policy: restrictPolicy(confinement.policy, wanted) }
}

/** Nothing that was not allowed before is allowed after: an agent can demand walls, never take them down. */
export function restrictPolicy(policy: SandboxPolicy, { mode, ...wanted }: Partial<SandboxPolicy>): SandboxPolicy {
  return { ...policy, ...mergeSandbox(policy, mode === 'required' ? { ...wanted, mode } : wanted) }
}
