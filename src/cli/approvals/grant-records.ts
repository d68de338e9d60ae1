import { type ApprovalKey, TroupeError } from '../../contracts/index.ts'
import { isPlainObject } from '../../util/schema-values.ts'

/** Something that a person has approved for a whole project. */
export interface GrantRecord extends ApprovalKey {
  /** The folder that it holds for. */
  readonly project: string
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
  if (isPlainObject(content) && content.version === version && Array.isArray(content.grants) && content.grants.every(isRecord))
    return content.grants
  throw new TroupeError('config_invalid', `The list of approvals ${place} is damaged.`, {
    problems: [{ place, message: `it is not { "version": ${version}, "grants": [ … ] }` }],
    remedy: 'Mend it, or remove it: then nothing is approved beyond a session.',
  })
}

/** The newest of the same key and project counts. */
export function withGrants(records: readonly GrantRecord[], added: readonly GrantRecord[]): readonly GrantRecord[] {
  return [...records.filter((record) => !added.some((each) => orderOf(each) === orderOf(record))), ...added]
}

const orderOf = ({ project, key }: GrantRecord): string => `${project}\0${key}`

function isRecord(value: unknown): value is GrantRecord {
  if (!isPlainObject(value)) return false
  const { key, label, isPrefix, project, by, at } = value
  const texts = [key, label, project, by]
  return (
    texts.every((text) => typeof text === 'string' && text !== '') &&
    typeof at === 'number' &&
    [undefined, true, false].includes(isPrefix as boolean)
  )
}
