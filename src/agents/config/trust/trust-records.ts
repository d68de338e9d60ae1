import { createHash } from 'node:crypto'
import { type Problem, TroupeError } from '../../../contracts/index.ts'
import { isPlainObject } from '../../../util/json-schema/schema-values.ts'
import { messageOf } from '../../../util/message-of.ts'

/** A file as it was when somebody looked at it. */
export interface FileState {
  readonly path: string
  readonly sha256: string
}

export interface TrustRecord extends FileState {
  /** Who trusted it: a person who was asked, a flag or command, or we ourselves, who wrote it. */
  readonly by: 'person' | 'command' | 'init'
  /** Milliseconds since 1970. */
  readonly at: number
}

/** By path. There is one content of a path that is trusted, the last one. */
export type TrustRecords = ReadonlyMap<string, TrustRecord>

/** `changed`: another content of it was trusted. */
export type TrustStatus = 'trusted' | 'changed' | 'unknown'

export const contentHash = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** Whether a person has trusted this very content at this very place. */
export function trustOf({ path, sha256 }: FileState, records: TrustRecords | 'everything'): TrustStatus {
  if (records === 'everything') return 'trusted'
  const record = records.get(path)
  if (!record) return 'unknown'
  return record.sha256 === sha256 ? 'trusted' : 'changed'
}

export function withTrust(records: TrustRecords, added: readonly TrustRecord[]): TrustRecords {
  return new Map([...records, ...added.map((record): [string, TrustRecord] => [record.path, record])])
}

/** A folder takes everything below it along. */
export function withoutTrust(records: TrustRecords, paths: readonly string[]): TrustRecords {
  const folders = paths.map((path) => path.replace(/[/\\]+$/, ''))
  const isBelow = (path: string): boolean =>
    folders.some((gone) => path === gone || (path.startsWith(gone) && /[/\\]/.test(path.charAt(gone.length))))
  return new Map([...records].filter(([path]) => !isBelow(path)))
}

const version = 1

export function printTrust(records: TrustRecords): string {
  const trusted = [...records.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
  return `${JSON.stringify({ version, trusted }, null, 2)}\n`
}

/** Reads what was written. Anything else throws `config_invalid`: a file that cannot be understood trusts nobody. */
export function parseTrust(text: string, place: string): TrustRecords {
  const content = parsed(text, place)
  if (isPlainObject(content) && typeof content.version === 'number' && content.version > version)
    throw damaged(place, [{ place, message: `it is of version ${content.version}, and this is a program for version ${version}` }])
  if (!isPlainObject(content) || content.version !== version || !Array.isArray(content.trusted))
    throw damaged(place, [{ place, message: `it is not { "version": ${version}, "trusted": [ … ] }` }])
  const records = new Map<string, TrustRecord>()
  const problems: Problem[] = []
  for (const [index, entry] of (content.trusted as readonly unknown[]).entries()) {
    if (isRecord(entry) && !records.has(entry.path)) records.set(entry.path, entry)
    else problems.push({ place: `${place} trusted[${index}]`, message: 'the entry is damaged, or there twice' })
  }
  if (problems.length > 0) throw damaged(place, problems.slice(0, 25))
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
    remedy: `Remove ${place}; you will be asked again about what it lists.`,
  })
}
