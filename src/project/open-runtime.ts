import type { Clock, RunOrigin, Store } from '../contracts/index.ts'
import { type AgentRuntime, createAgentRuntime, type RuntimeOptions, systemClock } from '../runtime/index.ts'
import { projectGrants, userGrants } from './grants/project-grants.ts'
import type { Project } from './project-report.ts'
import { WebhookDeliveries } from './webhooks/webhook-deliveries.ts'

interface RuntimeSettings extends Pick<RuntimeOptions, 'approver' | 'budgetOf'> {
  readonly store: Store
  /** Where runs are started: in the workspace of the project. */
  readonly origin: Omit<RunOrigin, 'workspace'>
  /** For the time of grants. Default: the system clock. */
  readonly clock?: Pick<Clock, 'now'>
}

/** Whether all turns have ended, or some were released. */
export type Drained = 'finished' | 'released'

export interface OpenedRuntime {
  readonly runtime: AgentRuntime
  /** Running turns continue for a while; then they are released, and the next process continues them. Resolves with whether all finished. */
  drain(ms: number): Promise<Drained>
  /** Releases every session, and closes what belongs to the runtime; not the store. */
  close(): Promise<void>
  /** Absent if no webhook is configured. */
  readonly webhooks?: WebhookDeliveries
}

/** A runtime for the agents of a project, with the user's grants. */
export function openRuntime(project: Project, { store, approver, budgetOf, origin, clock = systemClock }: RuntimeSettings): OpenedRuntime {
  const { report, root, workspace, folder, database, sandbox } = project
  const grants = userGrants({ env: report.setup.environment }, database ? undefined : { folder, store })
  const runtime = createAgentRuntime({
    config: project.config,
    adapter: project.adapter,
    store,
    clock: systemClock,
    ...(approver && { approver }),
    ...(budgetOf && { budgetOf }),
    grants: projectGrants(grants, { project: root, folder: workspace }, () => clock.now()),
    ...(sandbox && { sandbox }),
    hooks: project.hooks,
    mcp: project.mcp,
    origin: { ...origin, workspace },
  })
  const { webhooks: settings } = project
  const webhooks = settings.outgoing.length === 0 ? undefined : new WebhookDeliveries({ store, settings, workspace, clock: systemClock })
  if (webhooks) webhooks.serverUrl = project.headends.publicUrl?.replace(/\/$/, '')
  webhooks?.start()
  return {
    runtime,
    ...(webhooks && { webhooks }),
    drain: (ms) => drainRuntime(runtime, ms),
    async close() {
      await runtime.close()
      await grants.close()
      await webhooks?.close()
    },
  }
}

async function drainRuntime(runtime: AgentRuntime, ms: number): Promise<Drained> {
  const late = Promise.withResolvers<'released'>()
  const cancel = systemClock.after(ms, () => late.resolve('released'))
  const result = await Promise.race([runtime.close({ drain: true }).then(() => 'finished' as const), late.promise])
  cancel()
  if (result === 'released') await runtime.close()
  return result
}
