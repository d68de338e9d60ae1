import { findProjectRoot } from '../../agents/index.ts'
import { plural } from '../../view/index.ts'
import type { Place } from '../approvals/next-commands.ts'
import { dataDirFlag } from '../approvals/next-commands.ts'
import { sessionFolder, withSessions } from '../approvals/session-store.ts'
import { belongsToProject } from '../approvals/waiting-requests.ts'
import { exitCodes } from '../host/exit-codes.ts'
import type { Host } from '../host/process-host.ts'
import type { SessionsInvocation } from '../options/project-invocations.ts'
import { printDocument, printNotice, stdoutPaint } from '../terminal/print-messages.ts'
import { storedDocument } from './session-document.ts'
import { sessionLines } from './session-lines.ts'
import { type StoredSession, storedSessions } from './stored-sessions.ts'

/** `troupe sessions list`: the stored sessions with their state and the command that resumes them. */
export async function listSessions(invocation: SessionsInvocation, host: Host): Promise<number> {
  const { output, display, isEverywhere, filter } = invocation
  const project = findProjectRoot(process.cwd())
  const folder = await sessionFolder(invocation, host)
  const all = await withSessions<readonly StoredSession[]>(folder, [], (store) => storedSessions(store, filter))
  const sessions = all.filter((session) => isEverywhere || belongsToProject(session, project))
  const place: Place = { here: process.cwd(), folder, dataDir: invocation.dataDir }
  if (output === 'json') {
    await printDocument({ project, sessions: sessions.map((session) => storedDocument(session, place)) }, host)
    return exitCodes.done.code
  }
  await host.stdout.prose(sessions.flatMap((session) => sessionLines(session, place, stdoutPaint(host))))
  for (const notice of noticesAbout(sessions, { isEverywhere, project, place, others: all.length - sessions.length, filter }))
    await printNotice(notice, { host, display })
  return exitCodes.done.code
}

interface Search {
  readonly isEverywhere: boolean
  readonly project: string
  readonly place: Place
  readonly filter: SessionsInvocation['filter']
  /** Number of sessions of other projects. */
  readonly others: number
}

function noticesAbout(sessions: readonly StoredSession[], { isEverywhere, project, place, others, filter }: Search): readonly string[] {
  const data = dataDirFlag(place.dataDir)
  const isFiltered = Object.keys(filter).length > 0
  const has = (kind: StoredSession['standing']['kind']): boolean => sessions.some(({ standing }) => standing.kind === kind)
  return [
    ...(sessions.length === 0
      ? [`No ${isFiltered ? 'matching ' : ''}sessions ${isEverywhere ? '' : `of the project ${project} `}in ${place.folder}.`]
      : []),
    ...(sessions.length > 0 ? [`Show a session: troupe sessions show ID${data}`] : []),
    ...(has('waiting') ? [`List the open requests: troupe approvals list${data}`] : []),
    ...(has('ended') ? [`Continue a session that has ended: troupe run FILE "…" --resume ID${data}`] : []),
    ...(has('damaged')
      ? [
          `A damaged session cannot be resumed: restore the data folder from a backup. To remove the session: troupe sessions delete ID${data}`,
        ]
      : []),
    ...(others > 0
      ? [
          `${plural(others, isFiltered ? 'more matching session' : 'more session')} of other projects: troupe sessions list --everywhere${data}`,
        ]
      : []),
  ]
}
