import { TroupeError } from '../../contracts/index.ts'
import { dataDirFlag } from '../approvals/next-commands.ts'
import type { Host } from '../host/process-host.ts'
import type { SessionsAction } from '../options/project-command-specs.ts'
import type { SessionsInvocation } from '../options/project-invocations.ts'
import { typedWord } from '../options/typed-word.ts'
import { deleteSessions, pruneSessions } from './delete-sessions.ts'
import { listSessions } from './list-sessions.ts'
import { showSession } from './show-session.ts'

/** `troupe sessions`: list, show and delete stored sessions. */
export async function sessionsCommand(invocation: SessionsInvocation, host: Host): Promise<number> {
  refuseUnrelatedOptions(invocation)
  switch (invocation.action) {
    case 'list':
      return listSessions(invocation, host)
    case 'show':
      return showSession(invocation, host)
    case 'prune':
      return pruneSessions(invocation, host)
    case 'delete':
      return deleteSessions(invocation, host)
    default:
      return invocation.action satisfies never
  }
}

/** Options of another action would have no effect. */
function refuseUnrelatedOptions({ action, ids, output, display, older, keep, isDryRun, isEverywhere, dataDir }: SessionsInvocation): void {
  const extra = ids.at(action === 'show' ? 1 : 0)
  const shown = extra === undefined ? '' : `Show it: troupe sessions show ${typedWord(extra)}${dataDirFlag(dataDir)}`
  const only = (flag: string, ...actions: readonly SessionsAction[]) => ({
    place: flag,
    message: `Only ${actions.join(' and ')} ${actions.length === 1 ? 'has' : 'have'} this flag.`,
    remedy: 'Remove it.',
  })
  const problems = [
    ...(extra !== undefined && action !== 'delete'
      ? [{ place: extra, message: `The action ${action} takes ${action === 'show' ? 'one' : 'no'} ID.`, remedy: shown }]
      : []),
    ...(output === 'stream-json' && action !== 'show' ? [{ ...only('--stream-json', 'show'), remedy: 'Write --json.' }] : []),
    ...(display.detail === 'verbose' && action !== 'show' ? [only('--verbose', 'show')] : []),
    ...(older !== undefined && action !== 'prune' ? [only('--older', 'prune')] : []),
    ...(keep !== undefined && action !== 'prune' ? [only('--keep', 'prune')] : []),
    ...(isDryRun && action !== 'prune' && action !== 'delete' ? [only('--dry-run', 'prune', 'delete')] : []),
    ...(isEverywhere && action === 'prune'
      ? [{ ...only('--everywhere', 'list'), remedy: 'prune covers all projects of the data folder.' }]
      : []),
  ]
  if (problems.length > 0) throw new TroupeError('usage', `Invalid arguments for sessions ${action}.`, { problems })
}
