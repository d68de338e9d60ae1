import { type Store, type TreeEntry, type TreeId, TroupeError } from '../../../contracts/index.ts'
import { type CommandPlace, dataDirFlag, sessionPlace, storeName, withSessions } from '../../../project/index.ts'
import { nearestNames } from '../../../util/nearest-names.ts'
import { timeText } from '../../../view/index.ts'
import type { SessionsInvocation } from '../../arguments/project-invocations.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { allSessions } from './waiting-requests.ts'

export interface SessionPlace {
  readonly folder: string
  readonly dataDir: string | undefined
}

/**
 * Finds a session by its ID or an unambiguous prefix.
 *
 * @throws TroupeError `usage` with the matching or nearest IDs.
 */
export async function findSession(store: Pick<Store, 'trees'>, given: string, place: SessionPlace): Promise<TreeEntry> {
  const exact = await store.trees.get(given as TreeId)
  if (exact) return exact
  const all: TreeEntry[] = []
  for await (const entry of allSessions(store)) all.push(entry)
  const [only, ...others] = given === '' ? [] : all.filter(({ treeId }) => treeId.startsWith(given))
  if (!only) throw unknownSession(given, place, all)
  if (others.length > 0) throw ambiguous(given, [only, ...others], place)
  return only
}

/** Uses the one session that a command names. */
export async function withSession<Result>(
  { ids: [id], ...invocation }: Pick<SessionsInvocation, 'ids' | 'dataDir' | 'configFile'>,
  host: Host,
  use: (store: Store, entry: TreeEntry, place: CommandPlace) => Promise<Result>,
): Promise<Result> {
  if (id === undefined || id === '')
    throw new TroupeError('usage', 'The session ID is missing.', { remedy: 'To find the ID: troupe sessions list' })
  const store = await sessionPlace(invocation, host)
  const place: CommandPlace = { here: process.cwd(), folder: storeName(store), dataDir: invocation.dataDir }
  const used = await withSessions<{ readonly result: Result } | undefined>(store, undefined, async (store) => {
    const entry = await findSession(store, id, place)
    return { result: await use(store, entry, place) }
  })
  if (!used) throw unknownSession(id, place)
  return used.result
}

export function unknownSession(given: string, { folder, dataDir }: SessionPlace, known: readonly TreeEntry[] = []): TroupeError {
  const ids = known.map(({ treeId }) => treeId as string)
  return new TroupeError('usage', `There is no session ${given} in ${folder}.`, {
    problems: nearestNames(given, ids)
      .slice(0, maxNamed)
      .map((id) => ({ place: id, message: 'has a similar ID.' })),
    remedy: `List the sessions: troupe sessions list --everywhere${dataDirFlag(dataDir)}`,
  })
}

function ambiguous(given: string, matches: readonly TreeEntry[], { dataDir }: SessionPlace): TroupeError {
  const left = matches.length - maxNamed
  return new TroupeError('usage', `${matches.length} sessions have an ID that begins with ${given}.`, {
    problems: matches.slice(0, maxNamed).map(({ treeId, agent, title, createdAt }) => ({
      place: treeId,
      message: printable(`${agent} · ${timeText(createdAt)} · “${title}”`),
    })),
    remedy: `Type more of the ID.${left > 0 ? ` The other ${left}: troupe sessions list --everywhere${dataDirFlag(dataDir)}` : ''}`,
  })
}

const maxNamed = 10
