import { matchesGlob, parseGlob } from '../util/glob.ts'
import { shortHash } from '../util/hash.ts'

const safeName = (name: string): string => name.replaceAll(/[/.]/g, '__').replaceAll(/[^a-zA-Z0-9_-]/g, '_')

/** The name for models: `server/tool` and `extension.tool` become `server__tool`; long names end in a hash. */
export function offeredName(name: string): string {
  const safe = safeName(name)
  return safe.length <= 64 ? safe : `${safe.slice(0, 52)}_${shortHash(name)}`
}

/** The same for a pattern: `server/*` becomes `server__*`. */
export const offeredPattern = (pattern: string): string => pattern.split('*').map(safeName).join('*')

/** Whether a pattern, in which `*` matches anything, matches a name. */
export const matches = (pattern: string, name: string): boolean => matchesGlob(parseGlob(pattern), name)

/** Whether an entry of an allowlist matches a tool. `server/tool` and `server__tool` are the same, in the entry and in the name. */
export const matchesTool = (pattern: string, name: string): boolean =>
  matches(pattern, name) || matches(offeredPattern(pattern), offeredName(name))

/**
 * Whether an entry of an allowlist may match tools of a source, such as a server: `server/tool`, `server__*`, `ser*`, `*`.
 * `only`: and no tools of others.
 */
export function matchesSource(pattern: string, source: string, which: 'any' | 'only' = 'any'): boolean {
  const [fixed = ''] = pattern.split('*', 1)
  const prefix = `${offeredName(source)}__`
  const beginning = safeName(fixed)
  return beginning.startsWith(prefix) || (which === 'any' && fixed !== pattern && prefix.startsWith(beginning))
}
