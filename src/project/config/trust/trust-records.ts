import { createHash } from 'node:crypto'
import { type Problem, TroupeError } from '../../../contracts/index.ts'
import { isPlainObject } from '../../../util/json-schema/schema-values.ts'
import { messageOf } from '../../../util/message-of.ts'
import { maxReported } from '../../../yaml/source-text.ts'

/** A file with the hash of its content. */
export interface FileState {
  readonly path: string
  readonly sha256: string
}

export interface TrustRecord extends FileState {
  /** `person`: answered a question; `command`: a flag or command; `init`: `troupe init` wrote the file. */
  readonly by: 'person' | 'command' | 'init'
  /** Milliseconds since 1970. */
  readonly at: number
}

/** By path. Each path has one trusted content, the last one. */
export type TrustRecords = ReadonlyMap<string, TrustRecord>

/** `changed`: another content of the file is trusted. */
export type TrustStatus = 'trusted' | 'changed' | 'unknown'

export const contentHash = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** Whether this content at this path is trusted. */
export function trustOf({ path, sha256 }: FileState, records: TrustRecords | 'everything'): TrustStatus {
  if (records === 'everything') return 'trusted'
  const record = records.get(path)
  if (!record) return 'unknown'
  return record.sha256 === sha256 ? 'trusted' : 'changed'
}

export function withTrust(records: TrustRecords, added: readonly TrustRecord[]): TrustRecords {
  return new Map([...records, ...added.map((record): [string, TrustRecord] => [record.path, record])])
}

/** A folder includes all files below it, and a file its parts, such as `a.ai#mcpServers`. */
export function withoutTrust(records: TrustRecords, paths: readonly string[]): TrustRecords {
  const folders = paths.map((path) => path.replace(/[/\\]+$/, ''))
  const isBelow = (path: string): boolean =>
    folders.some((gone) => path === gone || (path.startsWith(gone) && /[/\\#]/.test(path.charAt(gone.length))))
  return new Map([...records].filter(([path]) => !isBelow(path)))
}

const version = 1

export function printTrust(records: TrustRecords): string {
  const trusted = [...records.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return `${JSON.stringify({ version, trusted }, null, 2)}\n`
}

/** Throws `config_invalid` if the list is damaged, so that nothing is trusted. */
export function parseTrust(text: string, place: string): TrustRecords {
  const content = parsed(text, place)
  if (isPlainObject(content) && typeof content.version === 'number' && content.version > version)
    throw damaged(place, [{ place, message: `it has version ${content.version}; this program supports version ${version}` }])
  if (!isPlainObject(content) || content.version !== version || !Array.isArray(content.trusted))
    throw damaged(place, [{ place, message: `it must be { "version": ${version}, "trusted": [ … ] }` }])
  const records = new Map<string, TrustRecord>()
  const problems: Problem[] = []
  for (const [index, entry] of (content.trusted as readonly unknown[]).entries()) {
    if (isRecord(entry) && !records.has(entry.path)) records.set(entry.path, entry)
    else problems.push({ place: `${place} trusted[${index}]`, message: 'the entry is damaged or duplicated' })
  }
  if (problems.length > 0) throw damaged(place, problems.slice(0, maxReported))
  return records
}

function parsed(text: string, place: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw damaged(place, [{ place, message: `it is not JSON: ${messageOf(cause)}` }])
  }
}

function isRecord(entry: unknown): entry is TrustRecord {
  if (!isPlainObject(entry) || Object.keys(entry).toSorted().join() !== 'at,by,path,sha256') return false
  const { path, sha256, by, at } = entry
  const isWhen = typeof at === 'number' && Number.isFinite(at)
  const isWho = by === 'person' || by === 'command' || by === 'init'
  return isWhen && isWho && typeof path === 'string' && path !== '' && typeof sha256 === 'string' && /^[\da-f]{64}$/.test(sha256)
}

function damaged(place: string, problems: readonly Problem[]): TroupeError {
  return new TroupeError('config_invalid', `the list of trusted files ${place} cannot be read`, {
    problems,
    remedy: `Remove ${place}; Troupe asks again about the files in it.`,
  })
}
