import type { Store } from '../../contracts/index.ts'
import { type OpenedRuntime, openRuntime, type Project } from '../../project/index.ts'
import { budgetOfTokens } from '../../server/http/index.ts'

/** One runtime for all agents. A call that needs approval waits until somebody answers. */
export const serveRuntime = (project: Project, store: Store): OpenedRuntime =>
  openRuntime(project, {
    store,
    approver: { decide: ({ isLive }) => (isLive ? 'wait' : 'suspend') },
    budgetOf: budgetOfTokens(store.records),
    origin: { command: 'serve' },
  })
