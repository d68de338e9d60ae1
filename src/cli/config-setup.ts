import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import {
  type AgentOverrides,
  type Config,
  type ConfigDiagnostic,
  loadConfig,
  nodeConfigFiles,
  readOptionVariables,
  readTrust,
  type TrustPlace,
  type TrustRecords,
} from '../agents/index.ts'
import { dataFolder, homeFolder } from './data-folder.ts'
import type { Host } from './host.ts'

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

export interface SetupWishes {
  /** The file behind `--config`. */
  readonly configFile?: string
  /** An agent, whose folder may have a configuration, too. */
  readonly file?: string
}

/** Reads the configuration in all its layers. Throws `config_invalid` with everything that is wrong in it. */
export async function loadSetup(host: Pick<Host, 'env'>, { configFile, file }: SetupWishes = {}): Promise<Setup> {
  const { env } = host
  const workingDirectory = process.cwd()
  const trustPlace = trustPlaceOf(host)
  const trusted = await readTrust(trustPlace)
  const { values, diagnostics } = readOptionVariables(env)
  const config = await loadConfig({
    places: {
      ...(configFile !== undefined && { given: resolve(configFile) }),
      workingDirectory,
      ...(file !== undefined && { agentDirectory: dirname(resolve(file)) }),
      userFolder: join(homeFolder(homedir()), '.ai-agent'),
      systemFolder: '/etc/ai-agent',
    },
    files: nodeConfigFiles,
    trusted,
  })
  return {
    config,
    variables: values,
    trusted,
    trustPlace,
    workingDirectory,
    environment: env,
    diagnostics: [...config.diagnostics, ...diagnostics],
  }
}

/** What is left where the configuration cannot be read. */
export function setupWithoutConfig(host: Pick<Host, 'env'>): Setup {
  return {
    config: { layers: [], files: [], pending: [], diagnostics: [] },
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
  return { files: nodeConfigFiles, path: join(dataFolder({ flag: undefined, env, home: homedir() }), 'trust.json') }
}
