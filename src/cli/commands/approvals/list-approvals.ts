import { type CommandPlace, type GrantRecord, resumeHint, sessionPlace, userGrants, withSessions } from '../../../project/index.ts'
import { findProjectRoot } from '../../../tools/project-context/index.ts'
import { plural } from '../../../util/plural.ts'
import type { ApprovalsInvocation } from '../../arguments/project-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { storedDocument } from '../sessions/session-document.ts'
import { sessionLines } from '../sessions/session-lines.ts'
import { damagedState, type StoredSession } from '../sessions/stored-sessions.ts'
import { waitingLines } from '../sessions/waiting-lines.ts'
import {
  belongsToProject,
  type DamagedSession,
  type WaitingSession,
  type WaitingSessions,
  waitingSessions,
} from '../sessions/waiting-requests.ts'

/** `troupe approvals list`: grants, and open requests with the commands that answer them. */
export async function listApprovals(invocation: ApprovalsInvocation, host: Host): Promise<number> {
  const { output, display, isEverywhere } = invocation
  const project = findProjectRoot(process.cwd())
  const stored = userGrants(host)
  const grants = await stored.list(isEverywhere ? undefined : project).finally(() => stored.close())
  const store = await sessionPlace(invocation, host)
  const all = await withSessions<WaitingSessions>(store, { waiting: [], damaged: [] }, waitingSessions)
  const waiting = all.waiting.filter((run) => isEverywhere || belongsToProject(run, project))
  const damaged = all.damaged.filter((run) => isEverywhere || belongsToProject(run, project)).map(damagedSession)
  const place: CommandPlace = { here: process.cwd(), folder: store.folder, dataDir: invocation.dataDir }
  if (output === 'json') {
    const sessions = {
      waiting: waiting.flatMap((run) => documents(run, place)),
      damaged: damaged.map((session) => storedDocument(session, place)),
    }
    await printDocument({ project, grants, ...sessions }, host)
    return exitCodes.done.code
  }
  await host.stdout.prose([
    ...grants.map((grant) => grantLine(grant, isEverywhere, host)),
    ...waiting.flatMap((run) => waitingLines(run, place, { paint: host.paint, width: host.width - 1 })),
    ...damaged.flatMap((session) => sessionLines(session, place, host.paint)),
  ])
  if (grants.length === 0) await printNotice(`No grants are stored for ${isEverywhere ? 'any project' : project}.`, { host, display })
  const others = all.waiting.length - waiting.length + all.damaged.length - damaged.length
  if (others > 0)
    await printNotice(`${plural(others, 'more session')} of other projects: troupe approvals list --everywhere`, { host, display })
  return exitCodes.done.code
}

const damagedSession = ({ run, damage }: DamagedSession): StoredSession => ({ run, standing: damagedState(damage) })

function grantLine({ key, label, project, folder, by, at }: GrantRecord, isEverywhere: boolean, { paint }: Host): string {
  const where = folder !== project ? `in ${folder} · ` : isEverywhere ? `${project} · ` : ''
  const details = `${label} · ${where}by ${by} on ${new Date(at).toISOString().slice(0, 10)}`
  return `${printable(key)}  ${paint('dim', printable(details))}`
}

function documents(waiting: WaitingSession, place: CommandPlace): readonly object[] {
  const { run, origin, requests, driver } = waiting
  return requests.map(({ request, agentPath, at, answer }) => ({
    sessionId: run.treeId,
    agent: run.agent,
    agentPath,
    title: run.title,
    ...origin,
    startedAt: run.createdAt,
    waitingSince: at,
    status: run.status,
    request,
    ...(answer && { answer }),
    ...(driver === undefined ? { goOn: resumeHint(waiting, place) } : { driver }),
  }))
}
