import type { SkillCard } from '../../contracts/index.ts'
import { readSkill } from './read-skill.ts'
import type { SkillProblem } from './skill-problem.ts'
import { type SkillPlaces, skillRoots } from './skill-roots.ts'
import type { SkillDetails } from './skill-settings.ts'
import { type SkillBounds, SkillSearcher } from './walk-skills.ts'

/*
 * Skills are instructions, not code. Those of a project that nobody has trusted are found like any others, as its
 * `AGENTS.md` is: they reach a model as text, and whatever they ask for goes through tools, with their rules and
 * approvals. So a skill grants nothing, and a script that comes with one runs only where somebody allows it.
 */

export interface SkillSearch extends SkillPlaces {
  /** Names of skills that nobody is to have. */
  readonly disabled?: readonly string[]
  readonly bounds?: SkillBounds
}

/** A skill that another of the same name stands before. */
export interface ShadowedSkill {
  readonly card: SkillCard
  readonly by: SkillCard
  /** `duplicate`: both are in the same scope, which is hardly ever meant. */
  readonly kind: 'shadowed' | 'duplicate'
}

export interface FoundSkills {
  /** By name. */
  readonly skills: readonly SkillCard[]
  /** What else each of them says of itself, by name. */
  readonly details: ReadonlyMap<string, SkillDetails>
  readonly shadowed: readonly ShadowedSkill[]
  readonly disabled: readonly SkillCard[]
  /** What is wrong with a skill, is left unused of one, or was not looked at, in the order of the search. */
  readonly problems: readonly SkillProblem[]
}

/** Looks for skills from the working directory outwards. Of those with the same name the nearest wins. */
export function findSkills(search: SkillSearch): FoundSkills {
  const walk = new SkillSearcher(search.bounds)
  const problems: SkillProblem[] = []
  const winners = new Map<string, { readonly card: SkillCard; readonly details: SkillDetails }>()
  const shadowed: ShadowedSkill[] = []
  for (const folder of skillRoots(search).flatMap((root) => walk.below(root))) {
    const { skill, problems: found } = readSkill(folder)
    problems.push(...found)
    if (!skill) continue
    const { card } = skill
    const winner = winners.get(card.name)?.card
    if (!winner) winners.set(card.name, skill)
    else shadowed.push({ card, by: winner, kind: card.scope === winner.scope ? 'duplicate' : 'shadowed' })
  }
  const disabled = new Set(search.disabled)
  const all = [...winners.values()].toSorted((a, b) => (a.card.name < b.card.name ? -1 : 1))
  const cards = all.map(({ card }) => card)
  return {
    skills: cards.filter(({ name }) => !disabled.has(name)),
    details: new Map(all.map(({ card, details }) => [card.name, details])),
    shadowed,
    disabled: cards.filter(({ name }) => disabled.has(name)),
    problems: bounded([...walk.problems, ...problems]),
  }
}

/** A longer list helps nobody, and a hostile project could make it as long as itself. */
const maxReported = 200

function bounded(problems: readonly SkillProblem[]): readonly SkillProblem[] {
  if (problems.length <= maxReported) return problems
  const message = `there are ${problems.length - maxReported} more problems of skills`
  return [...problems.slice(0, maxReported), { severity: 'warning', place: 'skills', message, remedy: 'Mend these first.' }]
}
