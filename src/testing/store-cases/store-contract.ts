import type { Store } from '../../contracts/index.ts'
import type { ContractCase } from '../contract-case.ts'
import { blobCases, snapshotCases } from './blob-cases.ts'
import { claimCases } from './claim-cases.ts'
import { filterCases, updateCases } from './filter-cases.ts'
import { inboxCases, watchCases } from './inbox-cases.ts'
import { journalCases, repeatCases } from './journal-cases.ts'
import { listWatchCases } from './list-watch-cases.ts'
import { recordCases, usageCases } from './record-cases.ts'
import type { StoreCases } from './sample-tree.ts'
import { searchCases } from './search-cases.ts'
import { deletionCases, treeCases } from './tree-cases.ts'
import { costCases, replaceCases, turnCases } from './turn-cases.ts'

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
  const groups: { readonly [group: string]: StoreCases } = {
    journal: journalCases,
    'repeated append': repeatCases,
    claims: claimCases,
    watch: watchCases,
    inbox: inboxCases,
    blobs: blobCases,
    trees: treeCases,
    'tree filters': filterCases,
    'tree updates': updateCases,
    'watched list': listWatchCases,
    deletion: deletionCases,
    snapshots: snapshotCases,
    records: recordCases,
    usage: usageCases,
    search: searchCases,
    turns: turnCases,
    costs: costCases,
    'replaced records': replaceCases,
  }
  return Object.entries(groups).flatMap(([group, cases]) =>
    Object.entries(cases).map(([name, check]) => ({ name: `${group}: ${name}`, run: () => runCase(open, check) })),
  )
}

async function runCase(open: () => Promise<StoreUnderTest>, check: StoreCases[string]): Promise<void> {
  const test = await open()
  try {
    const { store } = test
    await check({ store, other: (await test.another?.()) ?? store })
  } finally {
    await test.dispose()
  }
}
