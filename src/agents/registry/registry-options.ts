import type { SandboxPolicy } from '../../contracts/index.ts'
import type { ExternalValues } from '../agent-file/option-values.ts'
import type { Config } from '../config/config.ts'
import type { TrustRecords } from '../config/trust/trust-records.ts'
import type { Environment } from '../config/variables/resolve-placeholders.ts'

export interface RegistryOptions {
  /** Files that are asked for, as written: relative to the working directory. */
  readonly roots: readonly string[]
  /** `reachable`: these and their children. `everything`: what the configuration lists, too. */
  readonly scope: 'reachable' | 'everything'
  readonly workingDirectory: string
  readonly config: Config
  /** Whether files of it are left out because they are wrong: then nothing is said about what only they could know. Default false. */
  readonly isConfigFaulty?: boolean
  /** For `${VAR}` in the configuration. */
  readonly environment: Environment
  /** Files of other programs that a person has trusted. `everything`: whoever names the files knows all that they lead to. */
  readonly trusted: TrustRecords | 'everything'
  /** What goes before the files that are asked for. */
  readonly flags?: ExternalValues
  /** What goes before every file. */
  readonly variables?: ExternalValues
  /** The names of the tools that there are. Default: those that are built in. */
  readonly tools?: readonly string[]
  /** The walls of the session. Default: those of the configuration. */
  readonly sandbox?: SandboxPolicy
}
