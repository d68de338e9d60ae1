import {
  type ApprovalDecision,
  type ApprovalRequest,
  JournalDamagedError,
  type RunOrigin,
  type Store,
  type TreeEntry,
  type TreeFilter,
} from '../../../contracts/index.ts'
import { readPendingApprovals } from '../../../runtime/index.ts'
import { findProjectRoot } from '../../../tools/project-context/index.ts'

export interface WaitingRequest {
  readonly request: ApprovalRequest
  /** `root`, `root/writer#1`. */
  readonly agentPath: string
  /** Milliseconds since 1970. */
  readonly at: number
  /** The answer, if the session has not been resumed since. */
  readonly answer?: ApprovalDecision
}

export interface WaitingSession {
  readonly run: TreeEntry
  readonly origin?: RunOrigin
  readonly requests: readonly WaitingRequest[]
  /** The process that drives it, for people. */
  readonly driver?: string
  /** Calls wait for results of the client. */
  readonly waitsForClient?: boolean
}

export interface WaitingSessions {
  readonly waiting: readonly WaitingSession[]
  /** Sessions whose journals cannot be read. */
  readonly damaged: readonly DamagedSession[]
}
export interface DamagedSession {
  readonly run: TreeEntry
  readonly damage: JournalDamagedError
}

const pageSize = 1_000

/** Sessions with open requests, the newest first: suspended, running, or left by a process that died. */
export async function waitingSessions(store: Pick<Store, 'trees' | 'journal' | 'inbox'>): Promise<WaitingSessions> {
  const waiting: WaitingSession[] = []
  const damaged: DamagedSession[] = []
  for await (const run of allSessions(store)) {
    if (run.openRequests === 0) continue
    const session = await catchDamage(waitingSession(store, run))
    if (session instanceof JournalDamagedError) damaged.push({ run, damage: session })
    else if (session.requests.length > 0) waiting.push(session)
  }
  return { waiting, damaged }
}

/** Returns the damage of a journal, so that it does not hide the other sessions. */
export const catchDamage = <Read>(reading: Promise<Read>): Promise<Read | JournalDamagedError> =>
  reading.catch((error: unknown) => {
    if (error instanceof JournalDamagedError) return error
    throw error
  })

export async function waitingSession(store: Pick<Store, 'trees' | 'journal' | 'inbox'>, run: TreeEntry): Promise<WaitingSession> {
  const driver = await store.trees.driver(run.treeId)
  const { origin, open, waitsForClient } = await readPendingApprovals(store, run.treeId)
  // The call that asked has ended with its process.
  const requests = driver === undefined ? open.filter(({ request }) => !request.isLive) : open
  return { run, ...(origin && { origin }), requests, waitsForClient, ...(driver !== undefined && { driver }) }
}

/** A session without a recorded workspace belongs to no project. */
export function belongsToProject({ run, origin }: Pick<WaitingSession, 'run' | 'origin'>, project: string): boolean {
  const workspace = run.workspace ?? origin?.workspace
  return workspace !== undefined && findProjectRoot(workspace) === project
}

/** All sessions of a store that match, the newest first. */
export async function* allSessions({ trees }: Pick<Store, 'trees'>, filter: TreeFilter = {}): AsyncGenerator<TreeEntry> {
  let before: number | undefined
  for (;;) {
    const page = await trees.list({ ...filter, limit: pageSize, ...(before !== undefined && { before }) })
    yield* page
    if (page.length < pageSize) return
    before = page.at(-1)?.createdAt
  }
}
