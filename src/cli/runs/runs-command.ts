import { findProjectRoot } from '../../agents/index.ts'
import type { RunsInvocation } from '../agents-invocations.ts'
import { dataDirFlag } from '../approvals/answer-command.ts'
import { goOnCommand, type Place } from '../approvals/go-on-command.ts'
import { runFolder, withRuns } from '../approvals/run-store.ts'
import { isOfProject } from '../approvals/waiting-requests.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Host } from '../host.ts'
import { safeJson } from '../safe-json.ts'
import { tellNotice } from '../tell.ts'
import { type KeptRun, keptRuns } from './kept-runs.ts'
import { runLines } from './run-lines.ts'

/** `troupe runs list`: every run that is kept, how it stands, and how to go on with it. */
export async function runsCommand(invocation: RunsInvocation, host: Host): Promise<number> {
  const { output, wishes, isEverywhere } = invocation
  const project = findProjectRoot(process.cwd())
  const folder = await runFolder(invocation, host)
  const all = await withRuns<readonly KeptRun[]>(folder, [], (store) => keptRuns(store))
  const runs = all.filter((run) => isEverywhere || isOfProject(run, project))
  const place: Place = { here: process.cwd(), folder, dataDir: invocation.dataDir }
  const { code } = exitCodes.done
  if (output === 'json') {
    await host.stdout.line(safeJson({ ok: true, project, runs: runs.map((run) => documentOf(run, place)), exitCode: code }))
    return code
  }
  await host.stdout.lines(runs.flatMap((run) => runLines(run, place, host.paint)))
  for (const notice of noticesAbout(runs, { isEverywhere, project, place, others: all.length - runs.length }))
    await tellNotice(notice, { host, wishes })
  return code
}

interface Search {
  readonly isEverywhere: boolean
  readonly project: string
  readonly place: Place
  /** How many there are besides. */
  readonly others: number
}

function noticesAbout(runs: readonly KeptRun[], { isEverywhere, project, place, others }: Search): readonly string[] {
  const data = dataDirFlag(place.dataDir)
  const has = (kind: KeptRun['standing']['kind']): boolean => runs.some(({ standing }) => standing.kind === kind)
  return [
    ...(runs.length === 0 ? [`No run ${isEverywhere ? '' : `of ${project} `}is kept in ${place.folder}.`] : []),
    ...(has('waiting') ? [`What is waited for, and how to answer it: troupe approvals list${data}`] : []),
    ...(has('ended') ? [`The next turn of a run that has ended: troupe run FILE "…" --resume ID${data}`] : []),
    ...(others > 0 ? [`${others} more ${others === 1 ? 'run' : 'runs'} elsewhere: troupe runs list --everywhere${data}`] : []),
  ]
}

function documentOf(kept: KeptRun, place: Place): object {
  const { run, origin, standing } = kept
  return {
    runId: run.treeId,
    agent: run.agent,
    title: run.title,
    ...origin,
    status: run.status,
    standing,
    startedAt: run.createdAt,
    updatedAt: run.updatedAt,
    ...(standing.kind !== 'running' && { goOn: goOnCommand(kept, place) }),
  }
}
