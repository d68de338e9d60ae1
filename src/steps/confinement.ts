import { type Confinement, defaultSandboxPolicy, type SandboxPolicy } from '../contracts/index.ts'
import type { ActiveSession } from './active-session.ts'

/** How calls of a session are confined: as the runtime says, and where its agent wants it, more tightly. */
export function confinementOf({ ports, state }: ActiveSession): Confinement {
  const { confinement } = ports.sandbox
  const { sandbox: wanted } = state.agent
  if (!wanted) return confinement
  // There are no walls, and this agent wants some: it has them or runs nothing.
  if (confinement.kind === 'none' && wanted.mode === 'required')
    return { kind: 'sandbox', name: 'required by the agent', policy: tightened(defaultSandboxPolicy, wanted) }
  if (confinement.kind === 'none' || !confinement.policy) return confinement
  return { ...confinement, policy: tightened(confinement.policy, wanted) }
}

/** Nothing that was not allowed before is allowed after. */
export function tightened(policy: SandboxPolicy, wanted: Partial<SandboxPolicy>): SandboxPolicy {
  const both = (allowed: readonly string[], own: readonly string[] | undefined): readonly string[] =>
    own === undefined ? allowed : allowed.filter((each) => own.includes(each))
  return {
    mode: wanted.mode === 'required' ? 'required' : policy.mode,
    hosts: wanted.hosts === undefined ? policy.hosts : narrower(policy.hosts, wanted.hosts),
    // A folder below one that may be written to can be a link to anywhere: only the very same counts.
    writable: both(policy.writable, wanted.writable),
    environment: both(policy.environment, wanted.environment),
    memory: Math.min(policy.memory, wanted.memory ?? policy.memory),
    processes: Math.min(policy.processes, wanted.processes ?? policy.processes),
  }
}

/** Hosts that both name; of a name and a pattern that covers it, the name. */
function narrower(allowed: readonly string[], own: readonly string[]): readonly string[] {
  const within = (hosts: readonly string[], others: readonly string[]): readonly string[] =>
    hosts.filter((host) => others.some((other) => other === host || covers(other, host)))
  return [...new Set([...within(allowed, own), ...within(own, allowed)])]
}

/** `*.example.com` covers `api.example.com`. An address has no names below it. */
function covers(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.') || /:|\.\d+$/.test(host)) return false
  const below = pattern.slice(1).toLowerCase()
  return host.toLowerCase().endsWith(below) && host.length > below.length
}
