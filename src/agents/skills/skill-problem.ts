import type { Problem, Severity } from '../../contracts/index.ts'

/** Something about skills that a person should know. Where it is an `error`, the skill is not there; everything else is. */
export interface SkillProblem extends Problem {
  readonly severity: Severity
  /** The folder of the skill, where it is about one. */
  readonly folder?: string
}
