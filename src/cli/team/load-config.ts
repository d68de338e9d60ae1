import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import {
  type AgentOverrides,
  type Config,
  type ConfigDiagnostic,
  configError,
  type FileState,
  fileTrustStore,
  nodeConfigFileSystem,
  readConfig,
  readOptionVariables,
  type TrustPlace,
  type TrustRecord,
  type TrustRecords,
} from '../../project/index.ts'
import { dataFolder, homeFolder } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'
import { joinErrors } from '../terminal/print-errors.ts'
import { withIgnoredSettings } from './start-diagnostics.ts'

/** The configuration, options from the environment, and trusted files. */
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
  /** The file of `--config`. */
  readonly configFile?: string | undefined
  /** An agent file, whose folder may have a configuration, too. */
  readonly file?: string | undefined
  /** Files to treat as trusted without storing it. */
  readonly alsoTrusted?: readonly FileState[]
}

/** A setup that may have errors. */
export interface ReadSetup {
  /** The valid part of it. */
  readonly setup: Setup
  /** Whether the whole configuration could be read. */
  readonly isConfigured: boolean
  readonly errors: readonly TroupeError[]
}

/** Reads all layers of the configuration and the variables. Throws `config_invalid` with all errors. */
export async function loadSetup(host: Pick<Host, 'env'>, options: ConfigOptions = {}): Promise<Setup> {
  const { setup, errors } = await readSetup(host, options)
  if (errors.length > 0) throw withIgnoredSettings(joinErrors(errors), setup.diagnostics)
  return setup
}

/** The same without throwing: returns the valid part and the errors. */
export async function readSetup(host: Pick<Host, 'env'>, { configFile, file, alsoTrusted = [] }: ConfigOptions = {}): Promise<ReadSetup> {
  const bare = setupWithoutConfig(host)
  const { workingDirectory, trustPlace } = bare
  const listed = await valueOrErrors(trustPlace.store.list())
  const trusted: TrustRecords = new Map([...(listed.value ?? []), ...alsoTrusted.map(asIfTrusted)])
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
  const errors = [...variableErrors(variables.problems), ...listed.errors, ...(problems.length > 0 ? [configError(problems)] : [])]
  // Without the list of trusted files, it is unknown which configuration applies.
  const applied = listed.value ? config : bare.config
  const diagnostics = [...applied.diagnostics, ...variables.diagnostics, ...misplacedConfig(homeFolder(homedir()), workingDirectory)]
  const setup = { ...bare, config: applied, variables: variables.values, trusted, diagnostics }
  return { setup, isConfigured: listed.value !== undefined && problems.length === 0, errors }
}

/** Warns about a user configuration outside its folder. */
function misplacedConfig(home: string, workingDirectory: string): readonly ConfigDiagnostic[] {
  const path = join(home, '.ai-agent.json')
  if (home === workingDirectory || !existsSync(path)) return []
  const right = join(home, '.ai-agent', '.ai-agent.json')
  return [
    {
      code: 'config_not_read',
      severity: 'warning',
      place: path,
      message: 'this file is not read',
      remedy: `Move it to ${right}, the user configuration.`,
    },
  ]
}

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

/** Always in the user's state folder: a project must not bring its own list of trusted files. */
export const trustPathOf = ({ env }: Pick<Host, 'env'>): string => join(dataFolder({ flag: undefined, env, home: homedir() }), 'trust.json')

export function trustPlaceOf(host: Pick<Host, 'env'>): TrustPlace {
  const files = nodeConfigFileSystem
  return { files, store: fileTrustStore({ files, path: trustPathOf(host) }) }
}

const asIfTrusted = ({ path, sha256 }: FileState): [string, TrustRecord] => [path, { path, sha256, by: 'command', at: 0 }]

function variableErrors(problems: readonly Problem[]): readonly TroupeError[] {
  if (problems.length === 0) return []
  const count = problems.length === 1 ? 'An environment variable is invalid.' : `${problems.length} environment variables are invalid.`
  return [new TroupeError('config_invalid', count, { problems })]
}

async function valueOrErrors<T>(reading: Promise<T>): Promise<{ readonly value?: T; readonly errors: readonly TroupeError[] }> {
  try {
    return { value: await reading, errors: [] }
  } catch (error) {
    if (error instanceof TroupeError) return { errors: [error] }
    throw error
  }
}
