// 1. Nothing is written, started or imported from the project, whether or not it is trusted.
// 2. Nothing fails: Tab shows no errors. What cannot be read has no names.
// 3. A line is a name, or a name, a tab and a description. Neither has control characters.
import { relative } from 'node:path'
import {
  extensionIds,
  listAgentNames,
  loadSetup,
  modelAliasesOf,
  type Setup,
  setupWithoutConfig,
  storePlaceOf,
} from '../../../project/index.ts'
import { type StoredNames, storedNames } from '../../../stores/index.ts'
import { findProjectRoot } from '../../../tools/project-context/index.ts'
import type { ListedName } from '../../arguments/command-specs.ts'
import { placeOf } from '../../terminal/place-of.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'

interface Asked {
  /** One of the listed names; any other has no candidates. */
  readonly name: string
  readonly dataDir: string | undefined
}

interface Candidate {
  readonly name: string
  readonly description?: string
}

type Place = Pick<Host, 'cwd' | 'env'>

const maxSessions = 200
const maxDescription = 60

/** The answer to `troupe __complete NAME [DATA_DIR]`, line by line. */
export async function candidates({ name, dataDir }: Asked, place: Place): Promise<readonly string[]> {
  if (!Object.hasOwn(lists, name)) return []
  try {
    const setup = await loadSetup(placeOf(place)).catch(() => setupWithoutConfig(placeOf(place)))
    const found = await lists[name as ListedName]({ setup, dataDir })
    return [...new Map(found.flatMap((each) => (isSafe(each.name) ? [[each.name, lineOf(each)]] : []))).values()]
  } catch {
    return []
  }
}

/** Names with control characters or invisible characters cannot be shown, or look like other names. */
const isSafe = (name: string): boolean => name !== '' && !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(name)

function lineOf({ name, description }: Candidate): string {
  const text = printable(description ?? '')
  return text === '' ? name : `${name}\t${text.length > maxDescription ? `${text.slice(0, maxDescription).toWellFormed()}…` : text}`
}

interface Source {
  readonly setup: Setup
  readonly dataDir: string | undefined
}

const lists: { readonly [Name in ListedName]: (source: Source) => Promise<readonly Candidate[]> } = {
  agent: async ({ setup }) => listAgentNames(setup).map(({ name, path }) => ({ name: asPath(path, setup), description: name })),
  'agent-name': async (source) => [...listAgentNames(source.setup), ...(await sessionsHere(source)).map(({ agent }) => ({ name: agent }))],
  session: async (source) => (await sessionsHere(source)).map(asCandidate),
  'waiting-session': async (source) => (await sessionsHere(source)).filter(({ openRequests }) => openRequests > 0).map(asCandidate),
  model: async (source) => {
    const { models } = await stored(source).catch(() => nothing)
    return [...modelAliasesOf(source.setup.config), ...models].map((name) => ({ name }))
  },
  extension: async ({ setup }) =>
    extensionIds({ cwd: setup.workingDirectory, env: setup.environment })
      .filter((id) => /^\w[\w-]*$/.test(id) && id !== 'node_modules')
      .map((name) => ({ name })),
}

const nothing: StoredNames = { sessions: [], models: [] }

/** A path that begins with a dash would be a flag. */
function asPath(path: string, { workingDirectory }: Setup): string {
  const written = relative(workingDirectory, path)
  return written.startsWith('-') ? `./${written}` : written
}

async function stored({ setup, dataDir }: Source): Promise<StoredNames> {
  const { folder, database } = storePlaceOf({ ...setup, dataDir, cwd: setup.workingDirectory })
  return database ? nothing : storedNames(folder)
}

type Session = StoredNames['sessions'][number]

/** The newest sessions of this project. */
async function sessionsHere(source: Source): Promise<readonly Session[]> {
  const project = findProjectRoot(source.setup.workingDirectory)
  const { sessions } = await stored(source).catch(() => nothing)
  const roots = new Map([...new Set(sessions.map(({ workspace }) => workspace))].map((each) => [each, each && findProjectRoot(each)]))
  return sessions.filter(({ workspace }) => roots.get(workspace) === project).slice(0, maxSessions)
}

const asCandidate = ({ id, agent, title, status, openRequests }: Session): Candidate => ({
  name: id,
  description: `${openRequests > 0 ? 'waiting' : status} · ${agent} · ${title}`,
})
