/** Highest precedence first. */
export const skillScopes = ['repo', 'user', 'system', 'admin'] as const
export type SkillScope = (typeof skillScopes)[number]

/** A skill before it is loaded. */
export interface SkillCard {
  readonly name: string
  readonly description: string
  readonly scope: SkillScope
  /** The path of its `SKILL.md`, in its real folder. If that is a link later, it is another skill. */
  readonly path: string
  /** The hash of the content of its `SKILL.md`, to detect changes. */
  readonly hash: string
  readonly displayName?: string
  /** An example request that uses it. */
  readonly promptHint?: string
}
