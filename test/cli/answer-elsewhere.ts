import type { ApprovalDecision, ClientId } from '../../src/contracts/index.ts'
import { openRequestsOf } from '../../src/runtime/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'

/** Answers whatever the newest run of a folder waits for, as another process would: by a row in the inbox. */
export async function answerElsewhere(path: string, decision: ApprovalDecision): Promise<void> {
  const store = sqliteStore({ path })
  const [run] = await store.trees.list({ limit: 1 })
  if (!run) throw new Error(`There is no session in ${path}.`)
  for (const { id: approvalId } of await openRequestsOf(store, run.treeId))
    await store.inbox.add(run.treeId, `elsewhere ${approvalId}` as ClientId, { kind: 'approval', approvalId, decision, by: 'somebody' })
  await store.close()
}
