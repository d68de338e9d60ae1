import type { AgentTrust, Problem, SandboxPolicy } from '../../contracts/index.ts'
import type { ReadAgent } from '../agent-file/agent-file.ts'
import type { AgentOptionKey } from '../agent-file/agent-options.ts'
import type { ExternalValue, ExternalValues, SourceLocation } from '../agent-file/option-values.ts'
import type { Origin } from '../config/sourced.ts'
import type { Dialect } from '../dialects/foreign-agent.ts'
import type { AgentDiagnostic } from './agent-diagnostic.ts'

/** What an agent says of another: `./scout.ai` or `scout`, and where. */
export interface ChildReference extends SourceLocation {
  readonly written: string
  /** Foreign files name agents of programs that may not be here. */
  readonly isOptional?: boolean
}

export function locationOfReference({ place, line }: ChildReference): Pick<Problem, 'place' | 'line'> {
  return { place, ...(line !== undefined && { line }) }
}

/** A file that was read and understood, before it is known who its children are. */
export interface LoadedFile extends ReadAgent {
  readonly path: string
  readonly place: string
  readonly dialect: Dialect | 'troupe'
  readonly agent: ReadAgent['agent'] & { readonly displayName?: string; readonly trust?: AgentTrust }
  readonly children: readonly ChildReference[]
  /** Whether only a person may choose it; then no agent can call it. */
  readonly isForPeople: boolean
  readonly diagnostics: readonly AgentDiagnostic[]
}

/** What a file says, right or wrong, that others can check: nobody here knows models or skills, or compiles schemas. */
export interface ReadableFile extends Pick<LoadedFile, 'path' | 'place' | 'values' | 'dialect' | 'disabledSkills'> {
  readonly agent: Pick<LoadedFile['agent'], 'models' | 'input' | 'output' | 'skills' | 'tools' | 'sandbox'>
}

export type Loading = { readonly ok: true; readonly file: LoadedFile } | FailedLoading

export interface FailedLoading {
  readonly ok: false
  readonly problems: readonly Problem[]
  /** What could be read of it all the same: it may name others, with problems of their own. */
  readonly said?: LoadedFile
}

/** What speaks besides an agent file. */
export interface LoadContext {
  /** What goes before it: flags, variables. */
  readonly over: ExternalValues
  /** What holds where it is silent; values of a configuration know their file. */
  readonly defaults: ReadonlyMap<AgentOptionKey, ExternalValue & { readonly origin?: Origin }>
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
