import type { ApprovalRequest, Store, TreeEntry } from '../../contracts/index.ts'
import { openRequestsOf } from '../../runtime/index.ts'

/** A request that nobody has answered, and the run that waits for it. */
export interface WaitingRequest {
  readonly run: TreeEntry
  readonly request: ApprovalRequest
}

const pageOfRuns = 1_000

/** Of every run that is suspended, the newest first, however many others there are. */
export async function waitingRequests(store: Pick<Store, 'trees' | 'journal'>): Promise<readonly WaitingRequest[]> {
  const waiting: WaitingRequest[] = []
  for await (const run of runsOf(store)) {
    if (run.status !== 'suspended') continue
    for (const request of await openRequestsOf(store, run.treeId)) waiting.push({ run, request })
  }
  return waiting
}

async function* runsOf({ trees }: Pick<Store, 'trees'>): AsyncGenerator<TreeEntry> {
  let before: number | undefined
  for (;;) {
    const page = await trees.list({ limit: pageOfRuns, ...(before !== undefined && { before }) })
    yield* page
    if (page.length < pageOfRuns) return
    before = page.at(-1)?.createdAt
  }
}
