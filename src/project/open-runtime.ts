import type { Approver, Clock, RunOrigin, Store } from '../contracts/index.ts'
import { type AgentRuntime, createAgentRuntime, type RuntimeOptions, systemClock } from '../runtime/index.ts'
import { projectGrants, userGrants } from './grants/project-grants.ts'
import type { Project } from './project-report.ts'

interface RuntimeSettings extends Pick<RuntimeOptions, 'budgetOf'> {
  readonly store: Store
  readonly approver: Approver
  /** Where runs are started: in the workspace of the project. */
  readonly origin: Omit<RunOrigin, 'workspace'>
  /** For the time of grants. Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
}

export interface OpenedRuntime {
  readonly runtime: AgentRuntime
  /** Releases every session, and closes what belongs to the runtime; not the store. */
  close(): Promise<void>
}

/** A runtime for the agents of a project, with the user's grants. */
export function openRuntime(project: Project, { store, approver, origin, clock = systemClock, budgetOf }: RuntimeSettings): OpenedRuntime {
  const { report, root, workspace, folder, sandbox } = project
  const grants = userGrants({ env: report.setup.environment }, { folder, store })
  const runtime = createAgentRuntime({
    config: project.config,
    adapter: project.adapter,
    store,
    clock: systemClock,
    approver,
    grants: projectGrants(grants, { project: root, folder: workspace }, () => clock.now()),
    ...(sandbox && { sandbox }),
    hooks: project.hooks,
    mcp: project.mcp,
    ...(budgetOf && { budgetOf }),
    origin: { ...origin, workspace },
  })
  return {
    runtime,
    async close() {
      await runtime.close()
      await grants.close()
    },
  }
}
