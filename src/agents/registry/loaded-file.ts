import type { JsonObject, Problem } from '../../contracts/index.ts'
import type { AgentFile } from '../agent-file.ts'
import type { Dialect } from '../dialects/index.ts'
import type { PlacedValues, Spot } from '../placed-value.ts'
import type { AgentDiagnostic } from './diagnostic.ts'

/** What an agent says of another: `./scout.ai` or `scout`, and where. */
export interface ChildReference extends Spot {
  readonly written: string
  /** Foreign files name agents of programs that may not be here. */
  readonly isOptional?: boolean
}

/** A file that was read and understood, before it is known who its children are. */
export interface LoadedFile {
  readonly path: string
  readonly place: string
  readonly dialect: Dialect | 'troupe'
  readonly agent: AgentFile & { readonly displayName?: string }
  readonly children: readonly ChildReference[]
  readonly disabledSkills: readonly string[]
  readonly enabled: boolean
  readonly metadata: JsonObject
  readonly values: PlacedValues
  /** Where what is missing is missed. */
  readonly at: Spot
  readonly promptLine: number
  readonly diagnostics: readonly AgentDiagnostic[]
}

/** What a file says, right or wrong, that others can check: nobody here knows models or compiles schemas. */
export interface SaidByFile {
  readonly path: string
  readonly place: string
  readonly agent: Pick<AgentFile, 'models' | 'input' | 'output'>
  readonly values: PlacedValues
}

export type Loading = { readonly ok: true; readonly file: LoadedFile } | FailedLoading

export interface FailedLoading {
  readonly ok: false
  readonly problems: readonly Problem[]
  readonly path: string
  /** A file with problems may still name others, with problems of their own. */
  readonly children: readonly ChildReference[]
  /** What could be read of it all the same. */
  readonly said?: SaidByFile
}
