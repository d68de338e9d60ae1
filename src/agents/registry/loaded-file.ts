import type { AgentTrust, Problem } from '../../contracts/index.ts'
import type { ReadAgent } from '../agent-file.ts'
import type { Dialect } from '../dialects/index.ts'
import type { Spot } from '../placed-value.ts'
import type { AgentDiagnostic } from './diagnostic.ts'

/** What an agent says of another: `./scout.ai` or `scout`, and where. */
export interface ChildReference extends Spot {
  readonly written: string
  /** Foreign files name agents of programs that may not be here. */
  readonly isOptional?: boolean
}

export function spotOfReference({ place, line }: ChildReference): Pick<Problem, 'place' | 'line'> {
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
export interface SaidByFile extends Pick<LoadedFile, 'path' | 'place' | 'values' | 'dialect' | 'disabledSkills'> {
  readonly agent: Pick<LoadedFile['agent'], 'models' | 'input' | 'output' | 'skills' | 'tools' | 'sandbox'>
}

export type Loading = { readonly ok: true; readonly file: LoadedFile } | FailedLoading

export interface FailedLoading {
  readonly ok: false
  readonly problems: readonly Problem[]
  /** What could be read of it all the same: it may name others, with problems of their own. */
  readonly said?: LoadedFile
}
