import { maxSearchChars, type Store, type TreeFilter, TroupeError } from '../../../contracts/index.ts'
import { type CommandPlace, dataDirFlag, sessionPlace, storeName, withSessions } from '../../../project/index.ts'
import { findProjectRoot } from '../../../tools/project-context/index.ts'
import { isBlank } from '../../../util/is-blank.ts'
import { plural } from '../../../util/plural.ts'
import type { SessionsInvocation } from '../../arguments/project-invocations.ts'
import { readRanges } from '../../arguments/read-ranges.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice, stdoutPaint } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { unindexedNotice, withReindexCommand } from '../usage/unindexed-notice.ts'
import { filterFlags } from './filter-flags.ts'
import { storedDocument } from './session-document.ts'
import { sessionLines } from './session-lines.ts'
import { type StoredSession, storedSessions } from './stored-sessions.ts'
import { belongsToProject } from './waiting-requests.ts'

/** `troupe sessions list`: the stored sessions with their state and the command that resumes them. */
export async function listSessions(invocation: SessionsInvocation, host: Host): Promise<number> {
  const { output, display, isEverywhere } = invocation
  const filter = filterOf(invocation, host)
  const project = findProjectRoot(process.cwd())
  const store = await sessionPlace(invocation, host)
  const { all, unindexed } = await withSessions<Found>(store, { all: [], unindexed: 0 }, (store) => find(store, filter)).catch((error) => {
    throw withReindexCommand(error, invocation.dataDir)
  })
  const sessions = all.filter((session) => isEverywhere || belongsToProject(session, project))
  const place: CommandPlace = { here: process.cwd(), folder: storeName(store), dataDir: invocation.dataDir }
  if (output === 'json') {
    const documents = sessions.map((session) => listedDocument(session, place))
    await printDocument({ project, sessions: documents, ...(unindexed > 0 && { unindexed }) }, host)
    return exitCodes.done.code
  }
  await host.stdout.prose(sessions.flatMap((session) => sessionLines(session, place, stdoutPaint(host))))
  const everywhere = ['troupe sessions list --everywhere', ...filterFlags(invocation)].join(' ')
  const others = all.length - sessions.length
  for (const notice of noticesAbout(sessions, { isEverywhere, project, place, others, everywhere, filter, unindexed }))
    await printNotice(notice, { host, display })
  return exitCodes.done.code
}

function filterOf({ filter, ranges }: SessionsInvocation, host: Host): TreeFilter {
  const { search } = filter
  if (search !== undefined && (isBlank(search) || search.length > maxSearchChars))
    throw new TroupeError('usage', 'The command line is invalid.', {
      problems: [
        {
          place: '--search',
          message: `expected words, at most ${maxSearchChars} characters${isBlank(search) ? '' : `, not ${search.length}`}`,
          remedy: 'Write it like --search "weekend oslo".',
        },
      ],
    })
  return { ...filter, ...readRanges(ranges, host.now()) }
}

interface Found {
  readonly all: readonly StoredSession[]
  /** Sessions that the filter does not cover. */
  readonly unindexed: number
}

async function find(store: Store, filter: TreeFilter): Promise<Found> {
  const all = await storedSessions(store, filter)
  const needsIndex = filter.search !== undefined || filter.minCostUsd !== undefined || filter.maxCostUsd !== undefined
  return { all, unindexed: needsIndex ? await store.turns.unindexed() : 0 }
}

function listedDocument(session: StoredSession, place: CommandPlace): object {
  const { cost, match } = session.run
  return { ...storedDocument(session, place), ...(cost !== undefined && { cost }), ...(match && { match }) }
}

interface Search {
  readonly isEverywhere: boolean
  readonly project: string
  readonly place: CommandPlace
  readonly filter: TreeFilter
  readonly unindexed: number
  /** Number of sessions of other projects. */
  readonly others: number
  /** The command that lists them, too. */
  readonly everywhere: string
}

function noticesAbout(
  sessions: readonly StoredSession[],
  { isEverywhere, project, place, others, everywhere, filter, unindexed }: Search,
): readonly string[] {
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
      ? [`${plural(others, isFiltered ? 'more matching session' : 'more session')} of other projects: ${everywhere}${data}`]
      : []),
    ...unindexedNotice(unindexed, place.dataDir, filter.search === undefined ? 'cost' : 'searched'),
  ]
}
