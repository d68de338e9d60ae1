import type { SandboxPolicy } from '../../contracts/index.ts'
import type { AgentOptionKey } from '../agent-options.ts'
import type { Origin } from '../config/index.ts'
import type { SaidValue, SaidValues } from '../placed-value.ts'

/** What speaks besides an agent file. */
export interface Voices {
  /** What goes before it: flags, variables. */
  readonly over: SaidValues
  /** What holds where it is silent; values of a configuration know their file. */
  readonly defaults: ReadonlyMap<AgentOptionKey, SaidValue & { readonly origin?: Origin }>
  /** The folder that `script/` names of models are relative to: the first agent's. */
  readonly baseDir: string
  /** What paths on the command line are relative to. */
  readonly workingDirectory: string
  /** Names that the configuration has for models. */
  readonly models: readonly string[]
  /** The tools that there are. */
  readonly tools: readonly string[]
  /** The walls of the session, which an agent can only make stricter. */
  readonly sandbox: SandboxPolicy
}

export interface FileToRead {
  readonly path: string
  readonly place: string
  readonly bytes: Uint8Array
}
