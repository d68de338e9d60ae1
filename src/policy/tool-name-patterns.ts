import { matchesGlob, parseGlob } from '../util/glob.ts'
import { shortHash } from '../util/hash.ts'

/** The name for models: `server/tool` and `extension.tool` become `server__tool`; long names end in a hash. */
export function offeredName(name: string): string {
  const safe = name.replaceAll(/[/.]/g, '__').replaceAll(/[^a-zA-Z0-9_-]/g, '_')
  return safe.length <= 64 ? safe : `${safe.slice(0, 52)}_${shortHash(name)}`
}

/** Whether an entry of an allowlist, in which `*` matches anything, matches a name. */
export const matches = (pattern: string, name: string): boolean => matchesGlob(parseGlob(pattern), name)
