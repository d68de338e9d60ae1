import { findProjectRoot } from '../../agents/index.ts'
import { TroupeError } from '../../contracts/index.ts'
import type { RunsInvocation } from '../agents-invocations.ts'
import { dataDirFlag } from '../approvals/answer-command.ts'
import type { Place } from '../approvals/go-on-command.ts'
import { runFolder, withRuns } from '../approvals/run-store.ts'
import { isOfProject } from '../approvals/waiting-requests.ts'
import { exitCodes } from '../exit-codes.ts'
import type { Host } from '../host.ts'
import { safeJson } from '../safe-json.ts'
import { tellNotice } from '../tell.ts'
import { typedWord } from '../typed-word.ts'
import { keptDocument } from './kept-document.ts'
import { type KeptRun, keptRuns } from './kept-runs.ts'
import { paintOn } from './paint-on.ts'
import { runLines } from './run-lines.ts'

/** `troupe runs list`: every run that is kept, how it stands, and how to go on with it. */
export async function listRuns(invocation: RunsInvocation, host: Host): Promise<number> {
  const { output, wishes, isEverywhere } = invocation
  refuseShown(invocation)
  const project = findProjectRoot(process.cwd())
  const folder = await runFolder(invocation, host)
  const all = await withRuns<readonly KeptRun[]>(folder, [], (store) => keptRuns(store))
  const runs = all.filter((run) => isEverywhere || isOfProject(run, project))
  const place: Place = { here: process.cwd(), folder, dataDir: invocation.dataDir }
  const { code } = exitCodes.done
  if (output === 'json') {
    await host.stdout.line(safeJson({ ok: true, project, runs: runs.map((run) => keptDocument(run, place)), exitCode: code }))
    return code
  }
  await host.stdout.prose(runs.flatMap((run) => runLines(run, place, paintOn(host))))
  for (const notice of noticesAbout(runs, { isEverywhere, project, place, others: all.length - runs.length }))
    await tellNotice(notice, { host, wishes })
  return code
}

/** What only show understands. */
function refuseShown({ id, output, dataDir }: RunsInvocation): void {
  const problems = [
    ...(id === undefined
      ? []
      : [
          {
            place: id,
            message: 'list takes no ID.',
            remedy: `What happened in it: troupe runs show ${typedWord(id)}${dataDirFlag(dataDir)}`,
          },
        ]),
    ...(output === 'stream-json' ? [{ place: '--stream-json', message: 'It is for show.', remedy: 'Write --json.' }] : []),
  ]
  if (problems.length > 0) throw new TroupeError('usage', 'The command line says more than list understands.', { problems })
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
    ...(runs.length > 0 ? [`What happened in one of them: troupe runs show ID${data}`] : []),
    ...(has('waiting') ? [`What is waited for, and how to answer it: troupe approvals list${data}`] : []),
    ...(has('ended') ? [`The next turn of a run that has ended: troupe run FILE "…" --resume ID${data}`] : []),
    ...(others > 0 ? [`${others} more ${others === 1 ? 'run' : 'runs'} elsewhere: troupe runs list --everywhere${data}`] : []),
  ]
}
