import type { StateAdapter } from 'chat'
import type { PersonLimits } from 'troupe/extension'
import type { PlatformName } from '../platform.ts'
import { budgetFor, limitsOf, type Origin, type Rule, ruleFor } from '../rules.ts'
import type { Settings } from '../settings.ts'

/** Where a person wrote last, and what limited them there. */
interface Known {
  readonly origin: Origin
  readonly limits?: PersonLimits
}

/** Who may write, approve and spend. */
export class Access {
  readonly #settings: Settings
  readonly #state: Pick<StateAdapter, 'get' | 'set'>

  constructor(settings: Settings, state: Pick<StateAdapter, 'get' | 'set'>) {
    this.#settings = settings
    this.#state = state
  }

  /** Of somebody who acts. Undefined: denied. */
  async ruleFor(origin: Origin): Promise<Rule | undefined> {
    const rule = ruleFor(this.#settings.rules, origin)
    if (!rule) return undefined
    const limits = limitsOf(rule)
    const [key, known] = [keyOf(personId(origin)), { origin, ...(limits && { limits }) }]
    if (JSON.stringify(await this.#state.get(key)) !== JSON.stringify(known)) await this.#state.set(key, known)
    return rule
  }

  isAllowed(origin: Origin): boolean {
    return ruleFor(this.#settings.rules, origin) !== undefined
  }

  mayApprove(person: string): boolean {
    return this.#settings.approvers.has(person)
  }

  /**
   * Also after a restart, while their sessions continue. The rate is that of where they wrote last. Who is denied now keeps the limits
   * from before.
   */
  async limitsOf(person: string): Promise<PersonLimits | undefined> {
    const [platform = '', ...id] = person.split(':')
    const known = await this.#state.get<Known>(keyOf(person))
    const rule = known && ruleFor(this.#settings.rules, known.origin)
    const there = rule ? limitsOf(rule) : known?.limits
    const budget = budgetFor(this.#settings.rules, platform as PlatformName, id.join(':')) ?? (rule ? undefined : there?.budget)
    const { messagesPerMinute } = there ?? {}
    return { ...(budget && { budget }), ...(messagesPerMinute !== undefined && { messagesPerMinute }) }
  }
}

export const personId = ({ platform, person }: Pick<Origin, 'platform' | 'person'>): string => `${platform}:${person}`

const keyOf = (person: string): string => `person:${person}`
