import { type ApprovalKey, TroupeError } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'

/** An approval that outlives a session. */
export interface GrantRecord extends ApprovalKey {
  /** The project that it is listed and revoked with. */
  readonly project: string
  /** The folder in which it applies. The same key, such as a command, means something else in another folder. */
  readonly folder: string
  readonly by: string
  /** Milliseconds since 1970. */
  readonly at: number
}

const version = 1

export function printGrants(records: readonly GrantRecord[]): string {
  const sorted = records.toSorted((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1))
  return `${JSON.stringify({ version, grants: sorted }, null, 2)}\n`
}

/** Anything but the expected format throws `config_invalid`: a damaged list grants nothing. */
export function parseGrants(text: string, place: string): readonly GrantRecord[] {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    content = undefined
  }
  if (isPlainObject(content) && content.version === version && Array.isArray(content.grants) && content.grants.every(isGrant))
    return content.grants.filter(hasFolder)
  throw new TroupeError('config_invalid', `The list of approvals ${place} is damaged.`, {
    problems: [{ place, message: `expected { "version": ${version}, "grants": [ … ] }` }],
    remedy: 'Fix or remove the file. Without it, no approval outlives a session.',
  })
}

/** A new grant replaces one with the same key and folder. */
export function withGrants(records: readonly GrantRecord[], added: readonly GrantRecord[]): readonly GrantRecord[] {
  return [...records.filter((record) => !added.some((each) => orderOf(each) === orderOf(record))), ...added]
}

const orderOf = ({ project, folder, key }: GrantRecord): string => `${project}\0${folder}\0${key}`

/** Grants of older versions have no folder: they are ignored, so the user is asked again. */
const hasFolder = (grant: Grant): grant is GrantRecord => grant.folder !== undefined
type Grant = Omit<GrantRecord, 'folder'> & Partial<Pick<GrantRecord, 'folder'>>

function isGrant(value: unknown): value is Grant {
  if (!isPlainObject(value)) return false
  const { key, label, isPrefix, project, folder = project, by, at } = value
  const texts = [key, label, project, folder, by]
  return (
    texts.every((text) => typeof text === 'string' && text !== '') &&
    typeof at === 'number' &&
    [undefined, true, false].includes(isPrefix as boolean)
  )
}
