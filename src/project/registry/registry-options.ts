import type { SandboxPolicy } from '../../contracts/index.ts'
import { builtinToolNames } from '../../policy/builtin-tool-names.ts'
import type { Config } from '../config/config.ts'
import type { TrustRecords } from '../config/trust/trust-records.ts'
import { configuredSources, restToolNames } from '../config/unknown-names.ts'
import type { Environment } from '../config/variables/resolve-placeholders.ts'
import type { ExternalValues } from '../options/option-values.ts'
import type { FindServerFaults } from './agent-servers.ts'
import type { OnMissingTools } from './missing-tools.ts'
import type { ImportModules } from './tool-modules.ts'

export interface RegistryOptions {
  /** The requested files, relative to the working directory. */
  readonly roots: readonly string[]
  /** `reachable`: these and their children. `everything`: also the agents of the configuration. */
  readonly scope: 'reachable' | 'everything'
  readonly workingDirectory: string
  readonly config: Config
  /** Whether invalid files of it were left out; then problems that may come from that are not reported. Default: false. */
  readonly isConfigFaulty?: boolean
  /** For placeholders in the configuration. */
  readonly environment: Environment
  /** Trusted files. `everything`: trust all files. */
  readonly trusted: TrustRecords | 'everything'
  /** Override the requested files. */
  readonly flags?: ExternalValues
  /** Override all files. */
  readonly variables?: ExternalValues
  /** The names of all tools. Default: the built-in tools and those of the configuration. */
  readonly tools?: readonly string[]
  /** Default: modules in `tools` are not imported. */
  readonly importModules?: ImportModules
  /** Default: programs of servers are not searched. */
  readonly findServerFaults?: FindServerFaults
  /** Default: `refuse`. */
  readonly onMissingTools?: OnMissingTools
  /** Names of sources that can offer any tool. Default: the MCP servers and OpenAPI documents of the configuration. */
  readonly sources?: readonly string[]
  /** Ids. Rules can name their tools and agents. Default: none. */
  readonly extensions?: readonly string[]
  /** Called for each file that agents use besides agent files: schemas and included files. */
  onFile?(path: string): void
  /** The sandbox of the session. Default: that of the configuration. */
  readonly sandbox?: SandboxPolicy
}

/** The names of all tools, except those of sources. */
export const toolNames = ({ tools, config }: Pick<RegistryOptions, 'tools' | 'config'>): readonly string[] =>
  tools ?? [...builtinToolNames, ...restToolNames(config)]

export const sourceNames = ({ sources, config }: Pick<RegistryOptions, 'sources' | 'config'>): readonly string[] =>
  sources ?? configuredSources(config)
