import type { PersonLimits } from 'troupe/extension'
import type { PlatformName } from '../platform.ts'
import { limitRuleFor, limitsOf, type Origin, type Rule, ruleFor } from '../rules.ts'
import type { Settings } from '../settings.ts'

/** Who may write, approve and spend. */
export class Access {
  readonly #settings: Settings
  /** The rule that a person wrote under last. */
  readonly #last = new Map<string, Rule>()

  constructor(settings: Settings) {
    this.#settings = settings
  }

  /** Undefined: denied. */
  ruleFor(origin: Origin): Rule | undefined {
    const rule = ruleFor(this.#settings.rules, origin)
    if (rule) this.#last.set(personId(origin), rule)
    return rule
  }

  mayApprove(person: string): boolean {
    return this.#settings.approvers.has(person)
  }

  limitsOf(person: string): PersonLimits | undefined {
    const [platform = '', ...id] = person.split(':')
    return limitsOf(this.#last.get(person) ?? limitRuleFor(this.#settings.rules, platform as PlatformName, id.join(':')))
  }
}

export const personId = ({ platform, person }: Pick<Origin, 'platform' | 'person'>): string => `${platform}:${person}`
