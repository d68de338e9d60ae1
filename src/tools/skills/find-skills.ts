import type { SkillCard } from '../../contracts/index.ts'
import { readSkill } from './read-skill.ts'
import type { SkillProblem } from './skill-problem.ts'
import { type SkillPlaces, skillRoots } from './skill-roots.ts'
import type { SkillDetails } from './skill-settings.ts'
import { type SkillBounds, SkillSearcher } from './walk-skills.ts'

// Skills are instructions, not code. Skills of untrusted projects are found like any others: they reach a model as text, and
// everything that they ask for goes through tools with their rules and approvals. So a skill grants nothing.

export interface SkillSearch extends SkillPlaces {
  readonly disabled?: readonly string[]
  readonly bounds?: SkillBounds
}

/** A skill that a nearer skill of the same name hides. */
export interface ShadowedSkill {
  readonly card: SkillCard
  readonly by: SkillCard
  /** `duplicate`: both are in the same scope, most likely by mistake. */
  readonly kind: 'shadowed' | 'duplicate'
}

export interface FoundSkills {
  /** Sorted by name. */
  readonly skills: readonly SkillCard[]
  /** By name. */
  readonly details: ReadonlyMap<string, SkillDetails>
  readonly shadowed: readonly ShadowedSkill[]
  readonly disabled: readonly SkillCard[]
  /** In the order of the search. */
  readonly problems: readonly SkillProblem[]
}

/** Finds skills from the working directory outwards. Of skills with the same name the nearest wins. */
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

/** A hostile project could have any number of problems. */
const maxReported = 200

function bounded(problems: readonly SkillProblem[]): readonly SkillProblem[] {
  if (problems.length <= maxReported) return problems
  const message = `${problems.length - maxReported} more problems of skills`
  return [...problems.slice(0, maxReported), { severity: 'warning', place: 'skills', message, remedy: 'Fix these first.' }]
}
