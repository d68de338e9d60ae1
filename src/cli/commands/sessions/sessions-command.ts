import { TroupeError } from '../../../contracts/index.ts'
import { dataDirFlag } from '../../../project/index.ts'
import { typedWord } from '../../../util/typed-word.ts'
import type { SessionsAction } from '../../arguments/project-command-specs.ts'
import type { SessionsInvocation } from '../../arguments/project-invocations.ts'
import type { Host } from '../../terminal/process-host.ts'
import { deleteSessions, pruneSessions } from './delete-sessions.ts'
import { exportStoredSession } from './export-session.ts'
import { forkStoredSession } from './fork-session.ts'
import { listSessions } from './list-sessions.ts'
import { renameSession } from './rename-session.ts'
import { showRequest } from './show-request.ts'
import { showSession } from './show-session.ts'

/** `troupe sessions`: list, show and manage stored sessions. */
export async function sessionsCommand(invocation: SessionsInvocation, host: Host): Promise<number> {
  refuseUnrelatedOptions(invocation)
  switch (invocation.action) {
    case 'list':
      return listSessions(invocation, host)
    case 'show':
      return invocation.request ? showRequest(invocation, invocation.request, host) : showSession(invocation, host)
    case 'fork':
      return forkStoredSession(invocation, host)
    case 'export':
      return exportStoredSession(invocation, host)
    case 'rename':
      return renameSession(invocation, host)
    case 'prune':
      return pruneSessions(invocation, host)
    case 'delete':
      return deleteSessions(invocation, host)
    default:
      return invocation.action satisfies never
  }
}

/** How many IDs an action takes. The words behind that of `rename` are the title. */
const maxIds: { readonly [Action in SessionsAction]: number } = {
  list: 0,
  show: 1,
  fork: 1,
  export: 1,
  rename: Number.POSITIVE_INFINITY,
  prune: 0,
  delete: Number.POSITIVE_INFINITY,
}

/** Options of another action would have no effect. */
function refuseUnrelatedOptions(invocation: SessionsInvocation): void {
  const { action, ids, output, display, older, keep, isDryRun, isEverywhere, dataDir, filter, ranges, request, at, file } = invocation
  const extra = ids.at(maxIds[action])
  const shown = extra === undefined ? '' : `Show it: troupe sessions show ${typedWord(extra)}${dataDirFlag(dataDir)}`
  const only = (flag: string, ...actions: readonly SessionsAction[]) => ({
    place: flag,
    message: `Only ${actions.join(' and ')} ${actions.length === 1 ? 'has' : 'have'} this flag.`,
    remedy: 'Remove it.',
  })
  const given = (isGiven: boolean, flag: string, ...actions: readonly SessionsAction[]) =>
    isGiven && !actions.includes(action) ? [only(flag, ...actions)] : []
  const problems = [
    ...(extra === undefined
      ? []
      : [{ place: extra, message: `The action ${action} takes ${maxIds[action] === 1 ? 'one' : 'no'} ID.`, remedy: shown }]),
    ...(output === 'stream-json' && action !== 'show' ? [{ ...only('--stream-json', 'show'), remedy: 'Write --json.' }] : []),
    ...given(display.detail === 'verbose', '--verbose', 'show'),
    ...given(filter.agent !== undefined, '--agent', 'list'),
    ...given(filter.status !== undefined, '--status', 'list'),
    ...given(filter.labels !== undefined, '--label', 'list'),
    ...given(filter.text !== undefined, '--title', 'list'),
    ...given(filter.search !== undefined, '--search', 'list'),
    ...given(ranges.since !== undefined, '--since', 'list'),
    ...given(ranges.until !== undefined, '--until', 'list'),
    ...given(ranges.minCost !== undefined, '--min-cost', 'list'),
    ...given(ranges.maxCost !== undefined, '--max-cost', 'list'),
    ...given(request !== undefined, '--request', 'show'),
    ...given(at !== undefined, '--at', 'fork'),
    ...given(file !== undefined, '--output', 'export'),
    ...given(older !== undefined, '--older', 'prune'),
    ...given(keep !== undefined, '--keep', 'prune'),
    ...given(isDryRun, '--dry-run', 'prune', 'delete'),
    ...(isEverywhere && action === 'prune'
      ? [{ ...only('--everywhere', 'list'), remedy: 'prune covers all projects of the data folder.' }]
      : []),
  ]
  if (problems.length > 0) throw new TroupeError('usage', `Invalid arguments for sessions ${action}.`, { problems })
}
