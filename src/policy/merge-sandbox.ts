import type { SandboxPolicy } from '../contracts/index.ts'
import { coversHost } from '../util/host-pattern.ts'
import { isInside } from '../util/is-inside.ts'

/** The sandbox settings of one source. */
export type SandboxSettings = Partial<SandboxPolicy>

/** What both sources allow. A setting of only one source applies. */
export function mergeSandbox(one: SandboxSettings, other: SandboxSettings): SandboxSettings {
  const merged: { [key: string]: unknown } = {}
  for (const [key, join] of Object.entries(joins)) {
    const [a, b]: unknown[] = [Reflect.get(one, key), Reflect.get(other, key)]
    const value = a === undefined || b === undefined ? (a ?? b) : (join as (a: unknown, b: unknown) => unknown)(a, b)
    if (value !== undefined) merged[key] = value
  }
  return merged
}

type Covers = (wide: string, narrow: string) => boolean

/** If one of two entries covers the other, the narrower one stays. */
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

/** The keys that are lists, and when an entry of one covers another. */
const covering = { hosts: coversHost, privateHosts: coversHost, writable: coversFolder, environment: isSame } satisfies {
  readonly [Key in keyof SandboxPolicy]?: Covers
}
export type SandboxList = keyof typeof covering

const joins: { readonly [Key in keyof SandboxPolicy]: (one: SandboxPolicy[Key], other: SandboxPolicy[Key]) => SandboxPolicy[Key] } = {
  mode: (one, other) => (one === 'required' ? one : other),
  hosts: intersect(covering.hosts),
  privateHosts: intersect(covering.privateHosts),
  writable: intersect(covering.writable),
  environment: intersect(covering.environment),
  memory: Math.min,
  processes: Math.min,
}

/** The entries of a list that another list does not fully cover. */
export function uncoveredEntries(list: SandboxList, entries: readonly string[], allowed: readonly string[]): readonly string[] {
  return entries.filter((entry) => !isCovered(allowed, entry, covering[list]))
}
