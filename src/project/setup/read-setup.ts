import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { joinErrors } from '../../util/join-errors.ts'
import type { Config, ConfigDiagnostic } from '../config/config.ts'
import { nodeConfigFileSystem } from '../config/files/config-file-system.ts'
import { configError, readConfig } from '../config/load-config.ts'
import type { TrustPlace } from '../config/trust/trust-files.ts'
import type { FileState, TrustRecord, TrustRecords } from '../config/trust/trust-records.ts'
import { fileTrustStore } from '../config/trust/trust-store.ts'
import { readOptionVariables } from '../config/variables/option-variables.ts'
import type { Environment } from '../config/variables/resolve-placeholders.ts'
import type { AgentOverrides } from '../options/option-values.ts'
import { dataFolder, homeFolder } from './data-folder.ts'
import type { ProjectPlace } from './project-place.ts'
import { withIgnoredSettings } from './start-diagnostics.ts'

/** The configuration, options from the environment, and trusted files. */
export interface Setup {
  readonly config: Config
  /** Options that `TROUPE_*` variables set. */
  readonly variables: AgentOverrides
  readonly trusted: TrustRecords
  readonly trustPlace: TrustPlace
  readonly workingDirectory: string
  readonly environment: Environment
  readonly diagnostics: readonly ConfigDiagnostic[]
}

export interface ConfigOptions {
  /** The file of `--config`. */
  readonly configFile?: string | undefined
  /** An agent file, whose folder may have a configuration, too. */
  readonly file?: string | undefined
  /** Files to treat as trusted without storing it. */
  readonly alsoTrusted?: readonly FileState[] | undefined
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
export async function loadSetup(place: ProjectPlace, options: ConfigOptions = {}): Promise<Setup> {
  const { setup, errors } = await readSetup(place, options)
  if (errors.length > 0) throw withIgnoredSettings(joinErrors(errors), setup.diagnostics)
  return setup
}

/** The same without throwing: returns the valid part and the errors. */
export async function readSetup(place: ProjectPlace, { configFile, file, alsoTrusted = [] }: ConfigOptions = {}): Promise<ReadSetup> {
  const { cwd, env } = place
  const home = homeFolder(env)
  const bare = setupWithoutConfig(place)
  const { trustPlace } = bare
  const listed = await valueOrErrors(trustPlace.store.list())
  const trusted: TrustRecords = new Map([...(listed.value ?? []), ...alsoTrusted.map(asIfTrusted)])
  const variables = readOptionVariables(env)
  const { config, problems } = await readConfig({
    places: {
      ...(configFile !== undefined && { given: resolve(cwd, configFile) }),
      workingDirectory: cwd,
      ...(file !== undefined && { agentDirectory: dirname(resolve(cwd, file)) }),
      userFolder: join(home, '.ai-agent'),
      systemFolder: '/etc/ai-agent',
    },
    files: nodeConfigFileSystem,
    trusted,
  })
  const errors = [...variableErrors(variables.problems), ...listed.errors, ...(problems.length > 0 ? [configError(problems)] : [])]
  // Without the list of trusted files, it is unknown which configuration applies.
  const applied = listed.value ? config : bare.config
  const diagnostics = [...applied.diagnostics, ...variables.diagnostics, ...misplacedConfig(home, cwd)]
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

export function setupWithoutConfig({ cwd, env }: ProjectPlace): Setup {
  return {
    config: { layers: [], files: [], ownFolders: [], pending: [], diagnostics: [] },
    variables: new Map(),
    trusted: new Map(),
    trustPlace: trustPlaceOf({ env }),
    workingDirectory: cwd,
    environment: env,
    diagnostics: [],
  }
}

/** Always in the user's state folder: a project must not bring its own list of trusted files. */
export const trustPathOf = ({ env }: Pick<ProjectPlace, 'env'>): string => join(dataFolder({ flag: undefined, env }), 'trust.json')

export function trustPlaceOf(place: Pick<ProjectPlace, 'env'>): TrustPlace {
  const files = nodeConfigFileSystem
  return { files, store: fileTrustStore({ files, path: trustPathOf(place) }) }
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
