import { type TrustRecord, type TrustRecords, type TrustStore, trustOf } from '../../agents/index.ts'
import type { FoundExtension } from '../kernel-types.ts'

type Content = Pick<FoundExtension, 'folder' | 'hash'>

/** Trust in a folder is one record: its path with the hash of all its files. */
export const isTrustedExtension = ({ folder, hash }: Content, records: TrustRecords | 'everything'): boolean =>
  trustOf({ path: folder, sha256: hash }, records) === 'trusted'

/** Of an extension that stays in the sandbox: a person has given it the permissions of its manifest. */
const permitted = ({ folder, hash }: Content): Content => ({ folder: `${folder}#permissions`, hash })

export const isPermittedExtension = (content: Content, records: TrustRecords | 'everything'): boolean =>
  isTrustedExtension(permitted(content), records)

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
