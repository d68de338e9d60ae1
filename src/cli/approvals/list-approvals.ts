import { isAbsolute, relative } from 'node:path'
import { findProjectRoot } from '../../agents/index.ts'
import type { ApprovalDecision, RunOrigin } from '../../contracts/index.ts'
import { shellWord } from '../../util/shell-word.ts'
import type { ApprovalsInvocation } from '../agents-invocations.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Host } from '../host.ts'
import { printable } from '../paint.ts'
import { safeJson } from '../safe-json.ts'
import { tellNotice } from '../tell.ts'
import { answerCommand, dataDirFlag } from './answer-command.ts'
import type { GrantRecord } from './grant-records.ts'
import { grantPlaceOf, readGrants } from './project-grants.ts'
import { runFolder, withRuns } from './run-store.ts'
import { isOfProject, type WaitingRun, waitingRuns } from './waiting-requests.ts'

/** `troupe approvals list`: what was approved beyond a session, and what waits for an answer, with the commands that give it. */
export async function listApprovals(invocation: ApprovalsInvocation, host: Host): Promise<number> {
  const { output, wishes, isEverywhere } = invocation
  const project = findProjectRoot(process.cwd())
  const grants = readGrants(grantPlaceOf(host)).filter((record) => isEverywhere || record.project === project)
  const folder = await runFolder(invocation, host)
  const all = await withRuns<readonly WaitingRun[]>(folder, [], waitingRuns)
  const waiting = all.filter((run) => isEverywhere || isOfProject(run, project))
  const place: Place = { here: process.cwd(), folder, dataDir: invocation.dataDir }
  const { code } = exitCodes.done
  if (output === 'json') {
    await host.stdout.line(
      safeJson({ ok: true, project, grants, waiting: waiting.flatMap((run) => documents(run, place)), exitCode: code }),
    )
    return code
  }
  await host.stdout.lines([
    ...grants.map((grant) => grantLine(grant, isEverywhere, host)),
    ...waiting.flatMap((run) => runLines(run, place, host)),
  ])
  if (grants.length === 0)
    await tellNotice(`Nothing is approved for ${isEverywhere ? 'any project' : project} beyond a session.`, { host, wishes })
  const others = all.length - waiting.length
  if (others > 0)
    await tellNotice(`${others === 1 ? 'One more run waits' : `${others} more runs wait`} elsewhere: troupe approvals list --everywhere`, {
      host,
      wishes,
    })
  return code
}

function grantLine({ key, label, project, by, at }: GrantRecord, isEverywhere: boolean, { paint }: Host): string {
  const said = `${label} · ${isEverywhere ? `${project} · ` : ''}by ${by} on ${new Date(at).toISOString().slice(0, 10)}`
  return `${printable(key)}  ${paint('dim', printable(said))}`
}

/** Where the commands that are shown will be typed. */
interface Place {
  readonly here: string
  readonly folder: string
  readonly dataDir: string | undefined
}

function runLines(waiting: WaitingRun, place: Place, { paint }: Host): readonly string[] {
  const { run, origin, requests } = waiting
  const since = `${new Date(run.updatedAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const where = origin ? `${fileOf(origin)} in ${origin.workspace} · ` : ''
  const unanswered = requests.filter(({ answer }) => !answer)
  return [
    `${run.treeId}  ${printable(run.agent)}  ${paint('dim', printable(`${where}since ${since} · “${run.title}”`))}`,
    ...requests.flatMap(({ request, agentPath, answer }) => {
      const who = agentPath === 'root' ? '' : `${agentPath.replace(/^root\//, '')} · `
      const mark = answer ? `${paint('green', '✓')} ${saidBy(answer)}: ` : `${paint('yellow', '?')} `
      const line = `  ${mark}${printable(`${who}${request.summary}`)}  ${paint('dim', printable(request.tool))}`
      const id = unanswered.length === 1 ? run.treeId : request.id
      return answer ? [line] : [line, `    ${answerCommand(id, request, place.dataDir)}`]
    }),
    `  ${goOnCommand(waiting, place)}`,
  ]
}

const saidBy = ({ kind }: ApprovalDecision): string => ({ approve: 'approved', answer: 'answered', deny: 'denied', abort: 'denied' })[kind]

/** Relative to the folder of the run, where it is in it. */
function fileOf({ workspace, agentFile }: RunOrigin): string {
  if (agentFile === undefined) return 'a program'
  const path = relative(workspace, agentFile)
  return path.startsWith('..') || isAbsolute(path) ? agentFile : path
}

/** Goes on with the run in the folder that it works in. */
export function goOnCommand({ run, origin }: WaitingRun, { here, folder, dataDir }: Place): string {
  const file = origin?.agentFile === undefined ? 'FILE' : shellWord(fileOf(origin))
  const isHere = origin === undefined || origin.workspace === here
  const data = dataDirFlag(isHere || dataDir === undefined ? dataDir : folder)
  return `${isHere ? '' : `cd ${shellWord(origin.workspace)} && `}troupe run ${file} --resume ${run.treeId}${data}`
}

function documents(waiting: WaitingRun, place: Place): readonly object[] {
  const { run, origin, requests } = waiting
  return requests.map(({ request, agentPath, answer }) => ({
    runId: run.treeId,
    agent: run.agent,
    agentPath,
    title: run.title,
    ...origin,
    startedAt: run.createdAt,
    waitingSince: run.updatedAt,
    request,
    ...(answer && { answer }),
    goOn: goOnCommand(waiting, place),
  }))
}
