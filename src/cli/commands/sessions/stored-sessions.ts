import { JournalDamagedError, type RunOrigin, type Store, type TreeEntry, type TreeFilter } from '../../../contracts/index.ts'
import { originOf } from '../../../project/index.ts'
import { allSessions, catchDamage, type WaitingRequest, waitingSession } from './waiting-requests.ts'

/** More than its status: whether a process drives it, and whether it can be read. */
export type StoredSessionState =
  /** `driver`: the process, for people. */
  | { readonly kind: 'running'; readonly driver: string }
  /** Its process has exited before the turn ended. */
  | { readonly kind: 'unfinished' }
  /** `open`: number of missing answers. With 0 it can be resumed, unless it waits for its client. */
  | { readonly kind: 'waiting'; readonly open: number; readonly for?: 'client' }
  | { readonly kind: 'ended'; readonly status: Exclude<TreeEntry['status'], 'running' | 'suspended'> }
  /** Its journal cannot be read from event `seq` on, so it cannot be resumed. */
  | { readonly kind: 'damaged'; readonly seq: number }

export interface StoredSession {
  readonly run: TreeEntry
  readonly origin?: RunOrigin
  readonly standing: StoredSessionState
}

/** The sessions of a store, the newest first. Reads only what the state needs: later damage is found by `show` or on resume. */
export async function storedSessions(store: Store, filter: TreeFilter = {}): Promise<readonly StoredSession[]> {
  const sessions: StoredSession[] = []
  for await (const run of allSessions(store, filter)) sessions.push(await storedSession(store, run))
  return sessions
}

export async function storedSession(store: Store, run: TreeEntry): Promise<StoredSession> {
  const origin = await catchDamage(originOf(store, run.treeId))
  if (origin instanceof JournalDamagedError) return { run, standing: damagedState(origin) }
  const standing = await catchDamage(readState(store, run))
  return { run, ...(origin && { origin }), standing: standing instanceof JournalDamagedError ? damagedState(standing) : standing }
}

export const damagedState = ({ seq }: JournalDamagedError): Extract<StoredSessionState, { readonly kind: 'damaged' }> => ({
  kind: 'damaged',
  seq,
})

async function readState(store: Store, run: TreeEntry): Promise<StoredSessionState> {
  const { status, treeId } = run
  const driver = status === 'running' ? await store.trees.driver(treeId) : undefined
  // A session that can be resumed is read completely: resuming would refuse a damaged journal.
  const isOpen = status === 'suspended' || (status === 'running' && driver === undefined)
  return stateFromStatus(status, { driver, ...(isOpen ? await waitingSession(store, run) : { requests: [] }) })
}

interface Evidence {
  readonly driver: string | undefined
  readonly requests: readonly Pick<WaitingRequest, 'answer'>[]
  readonly waitsForClient?: boolean
}

export function stateFromStatus(status: TreeEntry['status'], { driver, requests, waitsForClient }: Evidence): StoredSessionState {
  switch (status) {
    case 'running':
      return driver === undefined ? { kind: 'unfinished' } : { kind: 'running', driver }
    case 'suspended':
      return { kind: 'waiting', open: requests.filter(({ answer }) => !answer).length, ...(waitsForClient && { for: 'client' }) }
    default:
      return { kind: 'ended', status }
  }
}
