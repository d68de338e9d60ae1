import type { RunsInvocation } from '../agents-invocations.ts'
import type { Host } from '../host.ts'
import { listRuns } from './list-runs.ts'
import { showRun } from './show-run.ts'

/** `troupe runs`: the runs that are kept, and what happened in one of them. */
export function runsCommand(invocation: RunsInvocation, host: Host): Promise<number> {
  switch (invocation.action) {
    case 'list':
      return listRuns(invocation, host)
    case 'show':
      return showRun(invocation, host)
    default:
      return invocation.action satisfies never
  }
}
