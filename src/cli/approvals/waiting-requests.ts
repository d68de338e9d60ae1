import { findProjectRoot } from '../../agents/index.ts'
import {
  type ApprovalDecision,
  type ApprovalRequest,
  JournalDamagedError,
  type RunOrigin,
  type Store,
  type TreeEntry,
} from '../../contracts/index.ts'
import { readPendingApprovals } from '../../runtime/index.ts'

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

export interface WaitingSessions {
  readonly waiting: readonly WaitingSession[]
  /** What these wait for cannot be read. */
  readonly damaged: readonly DamagedSession[]
}
export interface DamagedSession {
  readonly run: TreeEntry
  readonly damage: JournalDamagedError
}

const pageSize = 1_000

/** Every session with open requests, the newest first: suspended ones, those that run in some process, and those whose process died. */
export async function waitingSessions(store: Pick<Store, 'trees' | 'journal' | 'inbox'>): Promise<WaitingSessions> {
  const waiting: WaitingSession[] = []
  const damaged: DamagedSession[] = []
  for await (const run of allSessions(store)) {
    if (run.openRequests === 0) continue
    const session = await catchDamage(waitingSession(store, run))
    if (session instanceof JournalDamagedError) damaged.push({ run, damage: session })
    else waiting.push(session)
  }
  return { waiting, damaged }
}

/** What was read, or where its journal is damaged: that must not hide the other sessions. */
export const catchDamage = <Read>(reading: Promise<Read>): Promise<Read | JournalDamagedError> =>
  reading.catch((error: unknown) => {
    if (error instanceof JournalDamagedError) return error
    throw error
  })

export async function waitingSession(store: Pick<Store, 'trees' | 'journal' | 'inbox'>, run: TreeEntry): Promise<WaitingSession> {
  const driver = await store.trees.driver(run.treeId)
  const { origin, open } = await readPendingApprovals(store, run.treeId)
  return { run, ...(origin && { origin }), requests: open, ...(driver !== undefined && { driver }) }
}

/** A run that does not say where it was started belongs to no project. */
export function belongsToProject({ run, origin }: Pick<WaitingSession, 'run' | 'origin'>, project: string): boolean {
  const workspace = run.workspace ?? origin?.workspace
  return workspace !== undefined && findProjectRoot(workspace) === project
}

/** Every run of a store, the newest first. */
export async function* allSessions({ trees }: Pick<Store, 'trees'>): AsyncGenerator<TreeEntry> {
  let before: number | undefined
  for (;;) {
    const page = await trees.list({ limit: pageSize, ...(before !== undefined && { before }) })
    yield* page
    if (page.length < pageSize) return
    before = page.at(-1)?.createdAt
  }
}
