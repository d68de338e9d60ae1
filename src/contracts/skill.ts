/** From the nearest to the farthest; the nearest wins a name. */
export const skillScopes = ['repo', 'user', 'system', 'admin'] as const
export type SkillScope = (typeof skillScopes)[number]

/** What is known of a skill before it is loaded. */
export interface SkillCard {
  readonly name: string
  readonly description: string
  readonly scope: SkillScope
  /** Of its `SKILL.md`, in its real folder: where that is a link when it is loaded, it is another skill. */
  readonly path: string
  /** Of the content of its `SKILL.md`, so that a change shows. */
  readonly hash: string
  readonly displayName?: string
  /** What a person may say to make use of it. */
  readonly promptHint?: string
}
