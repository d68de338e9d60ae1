export { type FoundSkills, findSkills } from './find-skills.ts'
export { selectSkills } from './select-skills.ts'
export type { SkillProblem } from './skill-problem.ts'
export { adminSkillDirectories, userSkillDirectories } from './skill-roots.ts'
