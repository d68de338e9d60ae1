import { findProjectRoot } from '../../agents/index.ts'
import type { ApprovalDecision, ApprovalRequest, RunOrigin, Store, TreeEntry } from '../../contracts/index.ts'
import { standingOf } from '../../runtime/index.ts'

/** A request that a session waits for. */
export interface WaitingRequest {
  readonly request: ApprovalRequest
  /** Who asks: `root`, `root/writer#1`. */
  readonly agentPath: string
  /** When it was asked, in milliseconds since 1970. */
  readonly at: number
  /** What was answered, where the session has not gone on since. */
  readonly answer?: ApprovalDecision
}

/** A session with its open requests. */
export interface WaitingSession {
  readonly run: TreeEntry
  readonly origin?: RunOrigin
  readonly requests: readonly WaitingRequest[]
  /** Who runs it now, for people; absent where nobody does. */
  readonly driver?: string
}

const pageOfRuns = 1_000

/** Every session with open requests, the newest first: suspended ones, those that run in some process, and those whose process died. */
export async function waitingSessions(store: Pick<Store, 'trees' | 'journal' | 'inbox'>): Promise<readonly WaitingSession[]> {
  const waiting: WaitingSession[] = []
  for await (const run of sessionsOf(store)) {
    if (run.openRequests > 0) waiting.push(await waitingSession(store, run))
  }
  return waiting
}

export async function waitingSession(store: Pick<Store, 'trees' | 'journal' | 'inbox'>, run: TreeEntry): Promise<WaitingSession> {
  const driver = await store.trees.driver(run.treeId)
  const { origin, open } = await standingOf(store, run.treeId)
  return { run, ...(origin && { origin }), requests: open, ...(driver !== undefined && { driver }) }
}

/** A run that does not say where it was started belongs to no project. */
export const isOfProject = ({ origin }: Pick<WaitingSession, 'origin'>, project: string): boolean =>
  origin !== undefined && findProjectRoot(origin.workspace) === project

/** Every run of a store, the newest first. */
export async function* sessionsOf({ trees }: Pick<Store, 'trees'>): AsyncGenerator<TreeEntry> {
  let before: number | undefined
  for (;;) {
    const page = await trees.list({ limit: pageOfRuns, ...(before !== undefined && { before }) })
    yield* page
    if (page.length < pageOfRuns) return
    before = page.at(-1)?.createdAt
  }
}
