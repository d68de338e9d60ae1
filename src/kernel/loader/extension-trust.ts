import type { ExtensionProblem } from '../../contracts/index.ts'
import { type TrustRecord, type TrustRecords, type TrustStore, trustOf } from '../../project/index.ts'
import type { FoundExtension } from '../shared/kernel-types.ts'

type Content = Pick<FoundExtension, 'folder' | 'hash'>

/** Trust in a folder is one record: its path with the hash of all its files. */
export const isTrustedExtension = ({ folder, hash }: Content, records: TrustRecords | 'everything'): boolean =>
  trustOf({ path: folder, sha256: hash }, records) === 'trusted'

/** The record for an extension that stays in the sandbox: a person has given it the permissions of its manifest. */
const permitted = ({ folder, hash }: Content): Content => ({ folder: `${folder}#permissions`, hash })

export const isPermittedExtension = (content: Content, records: TrustRecords | 'everything'): boolean =>
  isTrustedExtension(permitted(content), records)

/** What extensions need permission for, whatever their manifests say. */
export const workPermissions = { tasks: 'tasks for the assistant', messages: 'messages of its channel' } as const

export const permitRemedy = (id: string): string => `Give them with: troupe extensions trust ${id} --sandboxed`

export const withheldProblem = (id: string, place: string, asked: readonly string[]): ExtensionProblem => ({
  place,
  message: `its permissions are not given yet: ${asked.join(', ')}`,
  remedy: permitRemedy(id),
})

/** Those problems of an extension that are permissions which nobody has given. */
export const withheldOf = (id: string, problems: readonly ExtensionProblem[]): readonly ExtensionProblem[] =>
  problems.filter(({ remedy }) => remedy === permitRemedy(id))

/** One remedy for all that are not loaded because there is no sandbox. */
export function untrustedText(ids: readonly string[]): string {
  const [them, what, are] = ids.length === 1 ? ['it', 'Extension', 'is'] : ['them', 'Extensions', 'are']
  const reason = `${ids.length === 1 ? 'it is' : 'they are'} not trusted, and there is no sandbox to run ${them} in`
  return `${what} ${ids.join(', ')} ${are} not running: ${reason}. To trust ${them}: troupe extensions trust ${ids.join(' ')}`
}

export const untrustedProblem = ({ id, folder }: Pick<FoundExtension, 'id' | 'folder'>): ExtensionProblem => ({
  place: folder,
  message: 'it is not trusted, and there is no sandbox to run it in',
  remedy: `To trust it: troupe extensions trust ${id}`,
})

/** Gives the extension in its current form the permissions of its manifest, in the sandbox. */
export const permitExtension = (store: Pick<TrustStore, 'add'>, content: Content, given: Pick<TrustRecord, 'by' | 'at'>): Promise<void> =>
  trustExtension(store, permitted(content), given)

/** Trusts the extension in its current form. */
export async function trustExtension(
  store: Pick<TrustStore, 'add'>,
  { folder, hash }: Content,
  given: Pick<TrustRecord, 'by' | 'at'>,
): Promise<void> {
  await store.add([{ path: folder, sha256: hash, ...given }])
}
