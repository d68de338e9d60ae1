import type { SandboxPolicy } from '../contracts/index.ts'

/** What one place says about the sandbox. */
export type StatedSandbox = Partial<SandboxPolicy>

/** Of two that have a say, what both allow. Where only one says something, that. */
export function stricterSandbox(one: StatedSandbox, other: StatedSandbox): StatedSandbox {
  const modes = [one.mode, other.mode]
  const mode = modes.includes('required') ? 'required' : (one.mode ?? other.mode)
  const hosts = both(one.hosts, other.hosts, commonHosts)
  const writable = both(one.writable, other.writable, common)
  const environment = both(one.environment, other.environment, common)
  const memory = both(one.memory, other.memory, Math.min)
  const processes = both(one.processes, other.processes, Math.min)
  return {
    ...(mode !== undefined && { mode }),
    ...(hosts && { hosts }),
    ...(writable && { writable }),
    ...(environment && { environment }),
    ...(memory !== undefined && { memory }),
    ...(processes !== undefined && { processes }),
  }
}

function both<T>(one: T | undefined, other: T | undefined, join: (one: T, other: T) => T): T | undefined {
  return one === undefined || other === undefined ? (one ?? other) : join(one, other)
}

const common = (one: readonly string[], other: readonly string[]): readonly string[] => one.filter((each) => other.includes(each))

/** Of a name and a pattern that covers it, the name. */
function commonHosts(one: readonly string[], other: readonly string[]): readonly string[] {
  const within = (hosts: readonly string[], others: readonly string[]): readonly string[] =>
    hosts.filter((host) => others.some((each) => isSame(each, host) || covers(each, host)))
  const first = within(one, other)
  return [...first, ...within(other, one).filter((host) => !first.some((each) => isSame(each, host)))]
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

/** `*.example.com` covers `api.example.com` and `*.api.example.com`. An address has no names below it. */
function covers(pattern: string, host: string): boolean {
  if (!pattern.startsWith('*.') || /:|\.\d+$/.test(host)) return false
  const below = pattern.slice(1).toLowerCase()
  return host.toLowerCase().endsWith(below) && host.length > below.length
}
