import { basename } from 'node:path'
import type { Problem, SkillCard } from '../../contracts/index.ts'
import { matchesGlob, parseGlob } from '../../util/glob.ts'
import { knownNames } from '../../util/nearest-names.ts'
import type { FoundSkills } from './find-skills.ts'

interface SelectedSkills {
  /** Sorted by name. */
  readonly skills: readonly SkillCard[]
  /** Missing skills, at `skills[index]` or `disabledSkills[index]`. */
  readonly problems: readonly Problem[]
  /** Patterns without a match: the skills may be elsewhere, or come later. */
  readonly warnings: readonly Problem[]
}

/** Selects the skills of an agent (`pdf`, `git-*`, `*`) without the disabled ones. Reports missing skills, not disabled ones. */
export function selectSkills(found: FoundSkills, wanted: readonly string[], disabled: readonly string[] = []): SelectedSkills {
  const problems: Problem[] = []
  const warnings: Problem[] = []
  const chosen = new Set<string>()
  for (const [index, pattern] of wanted.entries()) {
    const fitting = found.skills.filter(fits(pattern))
    for (const { name } of fitting) chosen.add(name)
    if (fitting.length > 0 || found.disabled.some(fits(pattern)) || pattern === '*') continue
    const place = `skills[${index}]`
    if (pattern.includes('*')) warnings.push({ place, message: `no skill fits \`${pattern}\``, remedy: instead(found, pattern) })
    else problems.push({ place, ...missing(found, pattern) })
  }
  const all = [...found.skills, ...found.disabled]
  for (const [index, pattern] of disabled.entries()) {
    if (all.some(fits(pattern)) || pattern === '*') continue
    const told = {
      place: `disabledSkills[${index}]`,
      message: `it has no effect: there is no skill \`${pattern}\``,
      remedy: instead(found, pattern),
    }
    if (pattern.includes('*')) warnings.push(told)
    else problems.push(told)
  }
  const unwanted = disabled.map(fits)
  const skills = found.skills.filter((card) => chosen.has(card.name) && !unwanted.some((isMeant) => isMeant(card)))
  return { skills, problems, warnings }
}

function fits(pattern: string): (skill: SkillCard) => boolean {
  const glob = parseGlob(pattern)
  return ({ name }) => matchesGlob(glob, name)
}

function missing(found: FoundSkills, name: string): Pick<Problem, 'message' | 'remedy'> {
  const broken = found.problems.find(({ severity, folder }) => severity === 'error' && folder !== undefined && basename(folder) === name)
  if (broken)
    return { message: `the skill \`${name}\` cannot be used: ${broken.place}: ${broken.message}`, remedy: broken.remedy ?? 'Fix it.' }
  return { message: `there is no skill \`${name}\``, remedy: instead(found, name) }
}

function instead({ skills }: FoundSkills, wanted: string): string {
  const names = skills.map(({ name }) => name)
  if (names.length === 0) return 'There are no skills here: a skill is a folder with a SKILL.md below .agents/skills.'
  return knownNames(wanted, names, 'skill')
}
