import type { SandboxPolicy } from '../contracts/index.ts'
import { coversHost } from '../util/host-pattern.ts'
import { isInside } from '../util/is-inside.ts'

/** What one place says about the sandbox. */
export type SandboxSettings = Partial<SandboxPolicy>

/** Of two that have a say, what both allow. Where only one says something, that. */
export function mergeSandbox(one: SandboxSettings, other: SandboxSettings): SandboxSettings {
  const modes = [one.mode, other.mode]
  const mode = modes.includes('required') ? 'required' : (one.mode ?? other.mode)
  const hosts = combine(one.hosts, other.hosts, intersect(coversHost))
  const privateHosts = combine(one.privateHosts, other.privateHosts, intersect(coversHost))
  const writable = combine(one.writable, other.writable, intersect(coversFolder))
  const environment = combine(one.environment, other.environment, intersect(isSame))
  const memory = combine(one.memory, other.memory, Math.min)
  const processes = combine(one.processes, other.processes, Math.min)
  return {
    ...(mode !== undefined && { mode }),
    ...(hosts && { hosts }),
    ...(privateHosts && { privateHosts }),
    ...(writable && { writable }),
    ...(environment && { environment }),
    ...(memory !== undefined && { memory }),
    ...(processes !== undefined && { processes }),
  }
}

function combine<T>(one: T | undefined, other: T | undefined, join: (one: T, other: T) => T): T | undefined {
  return one === undefined || other === undefined ? (one ?? other) : join(one, other)
}

type Covers = (wide: string, narrow: string) => boolean

/** Of two entries where one covers the other, the narrower one. */
const intersect =
  (covers: Covers) =>
  (one: readonly string[], other: readonly string[]): readonly string[] => {
    const within = (entries: readonly string[], others: readonly string[]): readonly string[] =>
      entries.filter((entry) => isCovered(others, entry, covers))
    const first = within(one, other)
    // What both say in different letters is said once.
    return [...first, ...within(other, one).filter((entry) => !first.some((each) => covers(each, entry) && covers(entry, each)))]
  }

const isCovered = (among: readonly string[], entry: string, covers: Covers): boolean => among.some((each) => covers(each, entry))

const isSame: Covers = (one, other) => one === other

const coversFolder: Covers = (folder, path) => folder === path || isInside(folder, path)

/** The keys that are lists. */
export type SandboxList = 'hosts' | 'privateHosts' | 'writable' | 'environment'

/** What of a list is not, or not all of it, in what another place allows. */
export function uncoveredEntries(list: SandboxList, entries: readonly string[], allowed: readonly string[]): readonly string[] {
  const covers = { hosts: coversHost, privateHosts: coversHost, writable: coversFolder, environment: isSame }[list]
  return entries.filter((entry) => !isCovered(allowed, entry, covers))
}
