import type { SandboxPolicy } from '../contracts/index.ts'
import { coversHost } from '../util/host-pattern.ts'
import { isInside } from '../util/is-inside.ts'

/** The sandbox settings of one source. */
export type SandboxSettings = Partial<SandboxPolicy>

/** What both sources allow. A setting of only one source applies. */
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
    // Equal entries in different spellings are listed once.
    return [...first, ...within(other, one).filter((entry) => !first.some((each) => covers(each, entry) && covers(entry, each)))]
  }

const isCovered = (among: readonly string[], entry: string, covers: Covers): boolean => among.some((each) => covers(each, entry))

const isSame: Covers = (one, other) => one === other

const coversFolder: Covers = (folder, path) => folder === path || isInside(folder, path)

/** The keys that are lists. */
export type SandboxList = 'hosts' | 'privateHosts' | 'writable' | 'environment'

/** The entries of a list that another list does not fully cover. */
export function uncoveredEntries(list: SandboxList, entries: readonly string[], allowed: readonly string[]): readonly string[] {
  const covers = { hosts: coversHost, privateHosts: coversHost, writable: coversFolder, environment: isSame }[list]
  return entries.filter((entry) => !isCovered(allowed, entry, covers))
}
