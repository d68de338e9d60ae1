import { JournalDamagedError, type RunOrigin, type Store, type TreeEntry } from '../../contracts/index.ts'
import { allSessions, catchDamage, type WaitingRequest, waitingSession } from '../approvals/waiting-requests.ts'
import { originOf } from '../run/run-origin.ts'

/** How a run stands now, which its status alone does not tell. */
export type StoredSessionState =
  /** `driver` says who that is, for people. */
  | { readonly kind: 'running'; readonly driver: string }
  /** Its process is gone, and nobody has taken it up. */
  | { readonly kind: 'left' }
  /** `open` answers are missing; where none is, it waits for somebody to go on with it. */
  | { readonly kind: 'waiting'; readonly open: number }
  | { readonly kind: 'ended'; readonly status: Exclude<TreeEntry['status'], 'running' | 'suspended'> }
  /** From event `seq` on its journal cannot be read, so it cannot be resumed. */
  | { readonly kind: 'damaged'; readonly seq: number }

export interface StoredSession {
  readonly run: TreeEntry
  readonly origin?: RunOrigin
  readonly standing: StoredSessionState
}

/**
 * The runs of a store, the newest first. Looking at them changes nothing: nobody loses a run by it. Journals are read only as
 * far as needed: damage behind that is found when the session is shown or resumed.
 */
export async function storedSessions(store: Store): Promise<readonly StoredSession[]> {
  const kept: StoredSession[] = []
  for await (const run of allSessions(store)) kept.push(await storedSession(store, run))
  return kept
}

async function storedSession(store: Store, run: TreeEntry): Promise<StoredSession> {
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
  // One that can be resumed now is read whole: a damaged journal would be refused then.
  const isOpen = status === 'suspended' || (status === 'running' && driver === undefined)
  return stateFromStatus(status, { driver, requests: isOpen ? (await waitingSession(store, run)).requests : [] })
}

interface Evidence {
  readonly driver: string | undefined
  readonly requests: readonly Pick<WaitingRequest, 'answer'>[]
}

export function stateFromStatus(status: TreeEntry['status'], { driver, requests }: Evidence): StoredSessionState {
  switch (status) {
    case 'running':
      return driver === undefined ? { kind: 'left' } : { kind: 'running', driver }
    case 'suspended':
      return { kind: 'waiting', open: requests.filter(({ answer }) => !answer).length }
    default:
      return { kind: 'ended', status }
  }
}
