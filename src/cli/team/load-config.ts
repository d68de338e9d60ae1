import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import {
  type AgentOverrides,
  type Config,
  type ConfigDiagnostic,
  configError,
  type FileState,
  nodeConfigFileSystem,
  readConfig,
  readOptionVariables,
  readTrust,
  type TrustPlace,
  type TrustRecord,
  type TrustRecords,
} from '../../agents/index.ts'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { dataFolder, homeFolder } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import { withWithheld } from './start-diagnostics.ts'

/** What surrounds every agent: the configuration, options of the environment, and whom a person trusts. */
export interface Setup {
  readonly config: Config
  /** Options that `TROUPE_*` variables set. */
  readonly variables: AgentOverrides
  readonly trusted: TrustRecords
  readonly trustPlace: TrustPlace
  readonly workingDirectory: string
  readonly environment: Host['env']
  readonly diagnostics: readonly ConfigDiagnostic[]
}

export interface ConfigOptions {
  /** The file behind `--config`. */
  readonly configFile?: string
  /** An agent, whose folder may have a configuration, too. */
  readonly file?: string
  /** Files that are read as if they were trusted; nothing is kept of that. */
  readonly alsoTrusted?: readonly FileState[]
}

/** What surrounds every agent, right or wrong. */
export interface ReadSetup {
  /** With whatever is right in it. */
  readonly setup: Setup
  /** Whether the configuration could be read: otherwise nobody knows what it would have said. */
  readonly isConfigured: boolean
  readonly wrong: readonly TroupeError[]
}

/** Reads the configuration in all its layers, and the variables. Throws `config_invalid` with everything that is wrong in any. */
export async function loadSetup(host: Pick<Host, 'env'>, display: ConfigOptions = {}): Promise<Setup> {
  const { setup, wrong } = await readSetup(host, display)
  if (wrong.length > 0) throw withWithheld(joinErrors(wrong), setup.diagnostics)
  return setup
}

/** The same for those who go on with what is right: a fault in one of them hides nothing of the others. */
export async function readSetup(host: Pick<Host, 'env'>, { configFile, file, alsoTrusted = [] }: ConfigOptions = {}): Promise<ReadSetup> {
  const bare = setupWithoutConfig(host)
  const { workingDirectory, trustPlace } = bare
  const listed = await rightOrWrong(readTrust(trustPlace))
  const trusted: TrustRecords = new Map([...(listed.right ?? []), ...alsoTrusted.map(asIfTrusted)])
  const variables = readOptionVariables(host.env)
  const { config, problems } = await readConfig({
    places: {
      ...(configFile !== undefined && { given: resolve(configFile) }),
      workingDirectory,
      ...(file !== undefined && { agentDirectory: dirname(resolve(file)) }),
      userFolder: join(homeFolder(homedir()), '.ai-agent'),
      systemFolder: '/etc/ai-agent',
    },
    files: nodeConfigFileSystem,
    trusted,
  })
  const wrong = [...variableErrors(variables.problems), ...listed.wrong, ...(problems.length > 0 ? [configError(problems)] : [])]
  // Without the list of trust, what counts of a configuration is as unknown as without the configuration.
  const counting = listed.right ? config : bare.config
  const diagnostics = [...counting.diagnostics, ...variables.diagnostics, ...misplacedConfig(homeFolder(homedir()), workingDirectory)]
  const setup = { ...bare, config: counting, variables: variables.values, trusted, diagnostics }
  return { setup, isConfigured: listed.right !== undefined && problems.length === 0, wrong }
}

/** A person's own configuration has a folder of its own. */
function misplacedConfig(home: string, workingDirectory: string): readonly ConfigDiagnostic[] {
  const path = join(home, '.ai-agent.json')
  if (home === workingDirectory || !existsSync(path)) return []
  const right = join(home, '.ai-agent', '.ai-agent.json')
  return [
    {
      code: 'config_not_read',
      severity: 'warning',
      place: path,
      message: 'it is not read here',
      remedy: `Move it to ${right}, where your own configuration is read from.`,
    },
  ]
}

/** What is left where nothing can be read. */
export function setupWithoutConfig(host: Pick<Host, 'env'>): Setup {
  return {
    config: { layers: [], files: [], ownFolders: [], pending: [], diagnostics: [] },
    variables: new Map(),
    trusted: new Map(),
    trustPlace: trustPlaceOf(host),
    workingDirectory: process.cwd(),
    environment: host.env,
    diagnostics: [],
  }
}

/** Always in the person's own folder: a list of trust that came along with a project would trust itself. */
export function trustPlaceOf({ env }: Pick<Host, 'env'>): TrustPlace {
  return { files: nodeConfigFileSystem, path: join(dataFolder({ flag: undefined, env, home: homedir() }), 'trust.json') }
}

const asIfTrusted = ({ path, sha256 }: FileState): [string, TrustRecord] => [path, { path, sha256, by: 'command', at: 0 }]

function variableErrors(problems: readonly Problem[]): readonly TroupeError[] {
  if (problems.length === 0) return []
  const count = problems.length === 1 ? 'A variable is wrong.' : `${problems.length} variables are wrong.`
  return [new TroupeError('config_invalid', count, { problems })]
}

async function rightOrWrong<T>(reading: Promise<T>): Promise<{ readonly right?: T; readonly wrong: readonly TroupeError[] }> {
  try {
    return { right: await reading, wrong: [] }
  } catch (error) {
    if (error instanceof TroupeError) return { wrong: [error] }
    throw error
  }
}
