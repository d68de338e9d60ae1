import { findProjectRoot } from '../../agents/index.ts'
import type { ApprovalDecision, ApprovalRequest, RunOrigin, Store, TreeEntry } from '../../contracts/index.ts'
import { standingOf } from '../../runtime/index.ts'

/** A request that a run waits for. */
export interface WaitingRequest {
  readonly request: ApprovalRequest
  /** Who asks: `root`, `root/writer#1`. */
  readonly agentPath: string
  /** What was answered, where the run has not gone on since. */
  readonly answer?: ApprovalDecision
}

/** A run that is suspended, with what it waits for. */
export interface WaitingSession {
  readonly run: TreeEntry
  readonly origin?: RunOrigin
  readonly requests: readonly WaitingRequest[]
}

const pageOfRuns = 1_000

/** Every run that is suspended, the newest first, however many others there are. */
export async function waitingSessions(store: Pick<Store, 'trees' | 'journal' | 'inbox'>): Promise<readonly WaitingSession[]> {
  const waiting: WaitingSession[] = []
  for await (const run of sessionsOf(store)) if (run.status === 'suspended') waiting.push(await waitingSession(store, run))
  return waiting
}

export async function waitingSession(store: Pick<Store, 'journal' | 'inbox'>, run: TreeEntry): Promise<WaitingSession> {
  const { origin, open } = await standingOf(store, run.treeId)
  return { run, ...(origin && { origin }), requests: open }
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
