import type { Problem, Severity } from '../../contracts/index.ts'

/** A finding about skills. A skill with an `error` cannot be used. */
export interface SkillProblem extends Problem {
  readonly severity: Severity
  /** The folder of the skill, if it is about one. */
  readonly folder?: string
}
