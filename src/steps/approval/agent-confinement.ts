import { type AgentSpec, type Confinement, defaultSandboxPolicy, type SandboxPolicy } from '../../contracts/index.ts'
import { mergeSandbox } from '../../policy/merge-sandbox.ts'
import type { ActiveSession } from '../session/active-session.ts'

export const confinementOf = ({ ports, state }: ActiveSession): Confinement => confinementFor(state.agent, ports.sandbox.confinement)

/** The confinement of the runtime, restricted further by the agent. */
export function confinementFor({ sandbox: wanted }: Pick<AgentSpec, 'sandbox'>, confinement: Confinement): Confinement {
  if (!wanted) return confinement
  // The agent requires a sandbox and there is none: its commands fail.
  if (confinement.kind === 'none' && wanted.mode === 'required')
    return { kind: 'sandbox', name: 'required by the agent', policy: restrictPolicy(defaultSandboxPolicy, wanted) }
  if (confinement.kind === 'none' || !confinement.policy) return confinement
  return { ...confinement, policy: restrictPolicy(confinement.policy, wanted) }
}

/** Never allows more than before: an agent can require the sandbox, but not switch it off. */
export function restrictPolicy(policy: SandboxPolicy, { mode, ...wanted }: Partial<SandboxPolicy>): SandboxPolicy {
  return { ...policy, ...mergeSandbox(policy, mode === 'required' ? { ...wanted, mode } : wanted) }
}
