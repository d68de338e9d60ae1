import { matchesGlob, parseGlob } from '../util/glob.ts'
import { shortHash } from '../util/hash.ts'

/** Names that models accept. `server/tool` and `extension.tool` become `server__tool`; too long ones end in a hash. */
export function offeredName(name: string): string {
  const safe = name.replaceAll(/[/.]/g, '__').replaceAll(/[^a-zA-Z0-9_-]/g, '_')
  return safe.length <= 64 ? safe : `${safe.slice(0, 52)}_${shortHash(name)}`
}

/** Whether a name is meant by an entry of an allowlist: its stars stand for anything. */
export const matches = (pattern: string, name: string): boolean => matchesGlob(parseGlob(pattern), name)
