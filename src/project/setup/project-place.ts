import type { Environment } from '../config/variables/resolve-placeholders.ts'

/** Where a project is read, and the only environment that it sees. */
export interface ProjectPlace {
  /** The folder of the project. Relative paths are relative to it. */
  readonly cwd: string
  /** Such as `process.env`. */
  readonly env: Environment
}
