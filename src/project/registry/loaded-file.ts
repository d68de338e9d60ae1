import type { AgentTrust, Problem, SandboxPolicy } from '../../contracts/index.ts'
import type { SourceLocation } from '../../yaml/source-text.ts'
import type { ReadAgent } from '../agent-file/agent-file.ts'
import type { Origin } from '../config/sourced.ts'
import type { Dialect } from '../dialects/foreign-agent.ts'
import type { AgentOptionKey } from '../options/agent-options.ts'
import type { ExternalValue, ExternalValues } from '../options/option-values.ts'
import type { AgentDiagnostic } from './agent-diagnostic.ts'

/** A child as an agent names it: `./scout.ai` or `scout`. */
export interface ChildReference extends SourceLocation {
  readonly written: string
  /** Foreign files may name agents that do not exist here. */
  readonly isOptional?: boolean
}

export function locationOfReference({ place, line }: ChildReference): Pick<Problem, 'place' | 'line'> {
  return { place, ...(line !== undefined && { line }) }
}

/** A file before its children are resolved. */
export interface LoadedFile extends ReadAgent {
  readonly path: string
  readonly place: string
  readonly dialect: Dialect | 'troupe'
  readonly agent: ReadAgent['agent'] & { readonly displayName?: string; readonly trust?: AgentTrust }
  readonly children: readonly ChildReference[]
  /** Only people can choose it; no agent can call it. */
  readonly isForPeople: boolean
  readonly diagnostics: readonly AgentDiagnostic[]
}

/** A readable file, valid or not, for checks of models, skills and schemas. */
export interface ReadableFile extends Pick<LoadedFile, 'path' | 'place' | 'values' | 'dialect' | 'disabledSkills'> {
  readonly agent: Pick<LoadedFile['agent'], 'models' | 'input' | 'output' | 'skills' | 'tools' | 'sandbox'>
}

export type Loading = { readonly ok: true; readonly file: LoadedFile } | FailedLoading

interface FailedLoading {
  readonly ok: false
  readonly problems: readonly Problem[]
  /** The readable part: it may name children that have problems too. */
  readonly partial?: LoadedFile
}

/** What applies to a file besides its content. */
export interface LoadContext {
  /** Flags and variables. */
  readonly over: ExternalValues
  /** From the configuration, with origins. */
  readonly defaults: ReadonlyMap<AgentOptionKey, ExternalValue & { readonly origin?: Origin }>
  /** `script/` models are relative to this folder, that of the first agent. */
  readonly baseDir: string
  /** Called for each schema file. */
  onFile?(path: string): void
  /** Paths on the command line are relative to it. */
  readonly workingDirectory: string
  /** Aliases of models in the configuration. */
  readonly models: readonly string[]
  /** The tools that exist. */
  readonly tools: readonly string[]
  /** Sources that can offer any tool. */
  readonly sources: readonly string[]
  /** The sandbox of the session; an agent can only restrict it. */
  readonly sandbox: SandboxPolicy
}

export interface FileToRead {
  readonly path: string
  readonly place: string
  readonly bytes: Uint8Array
}
