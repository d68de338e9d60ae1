import type { RunOrigin, Store, TreeEntry } from '../../contracts/index.ts'
import { isOfProject, runsOf, type WaitingRequest, waitingRun } from '../approvals/waiting-requests.ts'
import { originOf } from '../run-origin.ts'

/** How a run stands now, which its status alone does not tell. */
export type RunStanding =
  /** `driver` says who that is, for people. */
  | { readonly kind: 'running'; readonly driver: string }
  /** Its process is gone, and nobody has taken it up. */
  | { readonly kind: 'left' }
  /** `open` answers are missing; where none is, it waits for somebody to go on with it. */
  | { readonly kind: 'waiting'; readonly open: number }
  | { readonly kind: 'ended'; readonly status: Exclude<TreeEntry['status'], 'running' | 'suspended'> }

export interface KeptRun {
  readonly run: TreeEntry
  readonly origin?: RunOrigin
  readonly standing: RunStanding
}

/** Where runs are looked for; all of them where no project is named. */
export interface RunSearch {
  readonly project?: string
  /** Only those that have not ended. */
  readonly isUnended?: boolean
}

/** The runs of a store, the newest first. Looking at them changes nothing: nobody loses a run by it. */
export async function keptRuns(store: Store, { project, isUnended = false }: RunSearch = {}): Promise<readonly KeptRun[]> {
  const kept: KeptRun[] = []
  for await (const run of runsOf(store)) {
    if (isUnended && run.status !== 'running' && run.status !== 'suspended') continue
    const origin = await originOf(store, run.treeId)
    const placed = { run, ...(origin && { origin }) }
    if (project === undefined || isOfProject(placed, project)) kept.push({ ...placed, standing: await standingOf(store, run) })
  }
  return kept
}

async function standingOf(store: Store, run: TreeEntry): Promise<RunStanding> {
  const { status, treeId } = run
  return standingBy(status, {
    driver: status === 'running' ? await store.trees.driver(treeId) : undefined,
    requests: status === 'suspended' ? (await waitingRun(store, run)).requests : [],
  })
}

interface Evidence {
  readonly driver: string | undefined
  readonly requests: readonly Pick<WaitingRequest, 'answer'>[]
}

export function standingBy(status: TreeEntry['status'], { driver, requests }: Evidence): RunStanding {
  switch (status) {
    case 'running':
      return driver === undefined ? { kind: 'left' } : { kind: 'running', driver }
    case 'suspended':
      return { kind: 'waiting', open: requests.filter(({ answer }) => !answer).length }
    default:
      return { kind: 'ended', status }
  }
}
