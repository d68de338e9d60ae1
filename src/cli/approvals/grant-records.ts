import { type ApprovalKey, TroupeError } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/json-schema/schema-values.ts'

/** Something that a person has approved beyond a session. */
export interface GrantRecord extends ApprovalKey {
  /** The project that it is listed and taken back with. */
  readonly project: string
  /** Where it holds: the folder that it was given in. What a key names, such as a command, is another thing in another folder. */
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

/** Reads what was written. Anything else throws `config_invalid`: a list that cannot be understood grants nothing. */
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

/** The newest of the same key and folder counts. */
export function withGrants(records: readonly GrantRecord[], added: readonly GrantRecord[]): readonly GrantRecord[] {
  return [...records.filter((record) => !added.some((each) => orderOf(each) === orderOf(record))), ...added]
}

const orderOf = ({ project, folder, key }: GrantRecord): string => `${project}\0${folder}\0${key}`

/** One that does not say where it was given holds nowhere: somebody is asked again. */
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
