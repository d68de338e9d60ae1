import type { ApprovalKey, Json, Records } from '../../contracts/index.ts'
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

export type GrantScope = Pick<GrantRecord, 'project' | 'folder'>

const namespace = 'grant'

/** JSON makes any text a valid key of a record, and keeps the parts apart. */
const recordKey = ({ project, folder, key }: GrantRecord): string => JSON.stringify([project, folder, key])

/** By project, folder and key. A record of another format grants nothing. */
export async function readGrants(records: Records, project?: string): Promise<readonly GrantRecord[]> {
  const prefix = project === undefined ? '' : `${JSON.stringify([project]).slice(0, -1)},`
  const values: readonly unknown[] = (await records.list(namespace, { prefix })).map(({ value }) => value)
  return values.filter(isGrant)
}

/** `replace`: whether a grant with the same key and folder is replaced. */
export async function storeGrants(records: Records, grants: readonly GrantRecord[], { replace }: { replace: boolean }): Promise<void> {
  for (const grant of grants)
    await records.update(namespace, recordKey(grant), (before) => (replace ? undefined : before) ?? { value: { ...grant } as Json })
}

export async function removeGrants(records: Records, grants: readonly GrantRecord[]): Promise<void> {
  for (const grant of grants) await records.update(namespace, recordKey(grant), () => undefined)
}

export function isGrant(value: unknown): value is GrantRecord {
  if (!isPlainObject(value)) return false
  const { key, label, isPrefix, project, folder, by, at } = value
  const texts = [key, label, project, folder, by]
  return (
    texts.every((text) => typeof text === 'string' && text !== '') &&
    typeof at === 'number' &&
    [undefined, true, false].includes(isPrefix as boolean)
  )
}
