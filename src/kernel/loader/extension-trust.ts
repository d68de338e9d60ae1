import { type TrustRecord, type TrustRecords, type TrustStore, trustOf } from '../../agents/index.ts'
import type { FoundExtension } from '../kernel-types.ts'

type Content = Pick<FoundExtension, 'folder' | 'hash'>

/** Trust in a folder is one record: its path with the hash of all its files. */
export const isTrustedExtension = ({ folder, hash }: Content, records: TrustRecords | 'everything'): boolean =>
  trustOf({ path: folder, sha256: hash }, records) === 'trusted'

/** Trusts the extension in its current form. */
export async function trustExtension(
  store: Pick<TrustStore, 'add'>,
  { folder, hash }: Content,
  given: Pick<TrustRecord, 'by' | 'at'>,
): Promise<void> {
  await store.add([{ path: folder, sha256: hash, ...given }])
}
