import type { Store } from '../../contracts/index.ts'
import { type AgentRuntime, createAgentRuntime, systemClock } from '../../runtime/index.ts'
import { budgetOfTokens } from '../../server/http/index.ts'
import { projectGrants, userGrants } from '../approvals/project-grants.ts'
import type { Host } from '../host/process-host.ts'
import type { ServedProject } from './served-project.ts'

export interface ServeRuntime {
  readonly runtime: AgentRuntime
  /** After the runtime is closed. */
  close(): Promise<void>
}

/** One runtime for all agents. */
export function serveRuntime(project: ServedProject, store: Store, host: Host): ServeRuntime {
  const grants = userGrants(host, { folder: project.folder, store })
  const runtime = createAgentRuntime({
    config: project.config,
    adapter: project.adapter,
    store,
    clock: systemClock,
    // A call that needs approval waits until somebody answers.
    approver: { decide: ({ isLive }) => (isLive ? 'wait' : 'suspend') },
    grants: projectGrants(grants, { project: project.project, folder: project.workspace }, host.now),
    ...(project.sandbox && { sandbox: project.sandbox }),
    hooks: project.hooks,
    mcp: project.mcp,
    budgetOf: budgetOfTokens(store.records),
    origin: { workspace: project.workspace, command: 'serve' },
  })
  return { runtime, close: () => grants.close() }
}
