import type { Diagnostic, SkillCard } from '../../contracts/index.ts'
import type { FoundSkills } from './find-skills.ts'

export interface ResumedSkills {
  /** Those that are still there. They keep the hash that the session began with, so that loading one says that it has changed. */
  readonly skills: readonly SkillCard[]
  readonly diagnostics: readonly Diagnostic[]
}

/** The skills of a session that goes on, against those that there are now. */
export function resumeSkills(kept: readonly SkillCard[], found: FoundSkills, disabled: readonly string[] = []): ResumedSkills {
  const now = new Map(found.skills.map((card) => [card.name, card]))
  const off = new Set([...disabled, ...found.disabled.map(({ name }) => name)])
  const skills: SkillCard[] = []
  const diagnostics: Diagnostic[] = []
  for (const card of kept) {
    const there = now.get(card.name)
    if (off.has(card.name)) diagnostics.push(tell(card, 'skill_missing', 'is switched off by now'))
    else if (!there) diagnostics.push(tell(card, 'skill_missing', `is no longer there (${card.path})`))
    else {
      skills.push({ ...card, path: there.path, scope: there.scope })
      if (there.hash !== card.hash) diagnostics.push(tell(card, 'skill_changed', `has changed since the session began (${there.path})`))
    }
  }
  return { skills, diagnostics }
}

const tell = ({ name }: SkillCard, code: 'skill_missing' | 'skill_changed', what: string): Diagnostic => ({
  code,
  severity: 'warning',
  message: `The skill \`${name}\` ${what}.`,
  remedy: code === 'skill_changed' ? 'The session goes on with how it reads now.' : 'The session goes on without it.',
})
