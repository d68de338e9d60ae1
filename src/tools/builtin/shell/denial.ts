import type { SandboxPolicy, ToolFailure } from '../../../contracts/index.ts'

export interface FailedCommand {
  /** What it printed, as far as it was kept. */
  readonly text: string
  readonly refusedHosts: readonly string[]
  readonly policy: SandboxPolicy
}

/** What is guarded inside of the workspace can not be replaced either: it is "busy". */
const noWriting = /^.*(?:read-only file system|\bEROFS\b|device or resource busy|\bEBUSY\b).*$/im
const noNetwork =
  /^.*(?:network is unreachable|could not resolve (?:host|proxy)|(?:temporary failure in )?name resolution|name or service not known|unable to resolve host|no address associated with hostname|\bENETUNREACH\b|\bEAI_AGAIN\b|\bENOTFOUND\b|nodename nor servname|dns error|failed to lookup address).*$/im
const longestLine = 300

/** Whether a command that failed did so because of the walls, and what it wanted. They have no voice of their own, so its words are read. */
export function wallHit({ text, refusedHosts, policy }: FailedCommand): ToolFailure | undefined {
  if (refusedHosts.length > 0) {
    return hit(`It wanted to reach ${refusedHosts.join(', ')}, which the sandbox does not allow (sandbox.hosts).`)
  }
  const written = noWriting.exec(text)
  if (written) return hit(`It wanted to write where the sandbox does not allow it: ${line(written)}`)
  const reached = noNetwork.exec(text)
  if (!reached) return undefined
  const hosts =
    policy.hosts.length === 0 ? 'there is no network in the sandbox' : `the sandbox reaches ${policy.hosts.join(', ')} only, and by proxy`
  return hit(`It wanted to reach the network, and ${hosts}: ${line(reached)}`)
}

const line = ([found]: RegExpExecArray): string => found.trim().slice(0, longestLine)

const hit = (message: string): ToolFailure => ({
  class: 'sandbox',
  message,
  remedy: 'Do without it, or stay inside of the workspace; somebody may also allow this command to run outside of the sandbox.',
})
