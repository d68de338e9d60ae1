import { basename } from 'node:path'
import type { Problem, SkillCard } from '../../contracts/index.ts'
import { suggestion } from '../../util/suggestion.ts'
import type { FoundSkills } from './find-skills.ts'

export interface SelectedSkills {
  /** By name. */
  readonly skills: readonly SkillCard[]
  /** Which of the wanted ones there are not, each at `skills[index]`. */
  readonly problems: readonly Problem[]
}

/**
 * The skills of an agent: those that it wants (`pdf`, `git-*`, `*`), without those that it does not. What is switched off,
 * here or for everybody, is left out without a word; what does not exist is a problem that says what does.
 */
export function selectSkills(found: FoundSkills, wanted: readonly string[], disabled: readonly string[] = []): SelectedSkills {
  const problems: Problem[] = []
  const chosen = new Set<string>()
  for (const [index, name] of wanted.entries()) {
    const matching = found.skills.filter((skill) => fits(name, skill.name))
    for (const skill of matching) chosen.add(skill.name)
    const isKnown = matching.length > 0 || name.endsWith('*') || found.disabled.some((skill) => skill.name === name)
    if (!isKnown) problems.push({ place: `skills[${index}]`, ...missing(found, name) })
  }
  const skills = found.skills.filter(({ name }) => chosen.has(name) && !disabled.some((pattern) => fits(pattern, name)))
  return { skills, problems }
}

const fits = (pattern: string, name: string): boolean => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : pattern === name)

function missing({ skills, problems }: FoundSkills, name: string): Pick<Problem, 'message' | 'remedy'> {
  const broken = problems.find(({ severity, folder }) => severity === 'error' && folder !== undefined && basename(folder) === name)
  if (broken)
    return { message: `the skill \`${name}\` cannot be used: ${broken.place}: ${broken.message}`, remedy: broken.remedy ?? 'Mend it.' }
  const names = skills.map((skill) => skill.name)
  const remedy = suggestion(name, names) ?? 'There are no skills here: a skill is a folder with a SKILL.md below .agents/skills.'
  return { message: `there is no skill \`${name}\``, remedy }
}
