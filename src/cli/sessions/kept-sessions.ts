import type { RunOrigin, Store, TreeEntry } from '../../contracts/index.ts'
import { isOfProject, sessionsOf, type WaitingRequest, waitingSession } from '../approvals/waiting-requests.ts'
import { originOf } from '../run-origin.ts'

/** How a run stands now, which its status alone does not tell. */
export type SessionStanding =
  /** `driver` says who that is, for people. */
  | { readonly kind: 'running'; readonly driver: string }
  /** Its process is gone, and nobody has taken it up. */
  | { readonly kind: 'left' }
  /** `open` answers are missing; where none is, it waits for somebody to go on with it. */
  | { readonly kind: 'waiting'; readonly open: number }
  | { readonly kind: 'ended'; readonly status: Exclude<TreeEntry['status'], 'running' | 'suspended'> }

export interface KeptSession {
  readonly run: TreeEntry
  readonly origin?: RunOrigin
  readonly standing: SessionStanding
}

/** Where runs are looked for; all of them where no project is named. */
export interface SessionSearch {
  readonly project?: string
  /** Only those that have not ended. */
  readonly isUnended?: boolean
}

/** The runs of a store, the newest first. Looking at them changes nothing: nobody loses a run by it. */
export async function keptSessions(store: Store, { project, isUnended = false }: SessionSearch = {}): Promise<readonly KeptSession[]> {
  const kept: KeptSession[] = []
  for await (const run of sessionsOf(store)) {
    if (isUnended && run.status !== 'running' && run.status !== 'suspended') continue
    const origin = await originOf(store, run.treeId)
    const placed = { run, ...(origin && { origin }) }
    if (project === undefined || isOfProject(placed, project)) kept.push({ ...placed, standing: await standingOf(store, run) })
  }
  return kept
}

async function standingOf(store: Store, run: TreeEntry): Promise<SessionStanding> {
  const { status, treeId } = run
  return standingBy(status, {
    driver: status === 'running' ? await store.trees.driver(treeId) : undefined,
    requests: status === 'suspended' ? (await waitingSession(store, run)).requests : [],
  })
}

interface Evidence {
  readonly driver: string | undefined
  readonly requests: readonly Pick<WaitingRequest, 'answer'>[]
}

export function standingBy(status: TreeEntry['status'], { driver, requests }: Evidence): SessionStanding {
  switch (status) {
    case 'running':
      return driver === undefined ? { kind: 'left' } : { kind: 'running', driver }
    case 'suspended':
      return { kind: 'waiting', open: requests.filter(({ answer }) => !answer).length }
    default:
      return { kind: 'ended', status }
  }
}
