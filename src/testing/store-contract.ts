import type { Store } from '../contracts/index.ts'
import type { ContractCase } from './contract-case.ts'
import { blobCases } from './store-cases/blob-cases.ts'
import { deletionCases } from './store-cases/deletion-cases.ts'
import { inboxCases } from './store-cases/inbox-cases.ts'
import { journalCases } from './store-cases/journal-cases.ts'
import { ownershipCases } from './store-cases/ownership-cases.ts'
import { repeatCases } from './store-cases/repeat-cases.ts'
import { snapshotCases } from './store-cases/snapshot-cases.ts'
import type { StoreCase } from './store-cases/store-case.ts'
import { treeCases } from './store-cases/tree-cases.ts'
import { watchCases } from './store-cases/watch-cases.ts'

export interface StoreUnderTest {
  /** Empty and unshared. */
  readonly store: Store
  /** A second store on the same data, as another process opens it. Omit it if that is impossible. */
  another?(): Promise<Store>
  /** Closes every opened store and removes its data. */
  dispose(): Promise<void>
}

/**
 * The contract of stores. Each case opens a new store.
 *
 * @example
 * for (const { name, run } of storeContract(open)) test(name, run)
 */
export function storeContract(open: () => Promise<StoreUnderTest>): readonly ContractCase[] {
  const groups: readonly (readonly [string, readonly StoreCase[]])[] = [
    ['journal', journalCases],
    ['repeated append', repeatCases],
    ['ownership', ownershipCases],
    ['watch', watchCases],
    ['inbox', inboxCases],
    ['blobs', blobCases],
    ['trees', treeCases],
    ['deletion', deletionCases],
    ['snapshots', snapshotCases],
  ]
  return groups.flatMap(([group, cases]) => cases.map((each) => ({ name: `${group}: ${each.name}`, run: () => runCase(open, each) })))
}

async function runCase(open: () => Promise<StoreUnderTest>, { run }: StoreCase): Promise<void> {
  const test = await open()
  try {
    const { store } = test
    await run({ store, other: (await test.another?.()) ?? store })
  } finally {
    await test.dispose()
  }
}
