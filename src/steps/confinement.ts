import type { Confinement, SandboxPolicy } from '../contracts/index.ts'
import type { ActiveSession } from './active-session.ts'

/** How calls of a session are confined: as the runtime says, and where its agent wants it, more tightly. */
export function confinementOf({ ports, state }: ActiveSession): Confinement {
  const { confinement } = ports.sandbox
  const { sandbox: wanted } = state.agent
  if (!wanted || confinement.kind === 'none' || !confinement.policy) return confinement
  return { ...confinement, policy: tightened(confinement.policy, wanted) }
}

/** Nothing that was not allowed before is allowed after. */
export function tightened(policy: SandboxPolicy, wanted: Partial<SandboxPolicy>): SandboxPolicy {
  const both = (allowed: readonly string[], own: readonly string[] | undefined): readonly string[] =>
    own === undefined ? allowed : allowed.filter((each) => own.includes(each))
  return {
    mode: wanted.mode === 'required' ? 'required' : policy.mode,
    hosts: both(policy.hosts, wanted.hosts),
    writable: both(policy.writable, wanted.writable),
    environment: both(policy.environment, wanted.environment),
    memory: Math.min(policy.memory, wanted.memory ?? policy.memory),
    processes: Math.min(policy.processes, wanted.processes ?? policy.processes),
  }
}
