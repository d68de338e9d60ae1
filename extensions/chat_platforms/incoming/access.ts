import type { PersonLimits } from 'troupe/extension'
import type { PlatformName } from '../platform.ts'
import { budgetFor, type Origin, type Rule, ruleFor } from '../rules.ts'
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

  limitsOf(person: string): PersonLimits {
    const [platform = '', ...id] = person.split(':')
    const budget = budgetFor(this.#settings.rules, platform as PlatformName, id.join(':'))
    const { messagesPerMinute } = this.#last.get(person) ?? {}
    return { ...(budget && { budget }), ...(messagesPerMinute !== undefined && { messagesPerMinute }) }
  }
}

export const personId = ({ platform, person }: Pick<Origin, 'platform' | 'person'>): string => `${platform}:${person}`
