import type { ChannelProvider, Clock, OwnerBudget, PersonLimits, Records } from '../../contracts/index.ts'
import { haveSameJson } from '../../util/json-values.ts'
import { plural } from '../../util/plural.ts'
import { personLimits } from '../shared/answer-shapes.ts'
import { optional } from '../shared/value-shapes.ts'
import { type Person, principalIdOf } from './conversation.ts'

const namespace = 'person_budget'
const minuteMs = 60_000

interface LimitsOptions {
  readonly records: Records
  readonly clock: Pick<Clock, 'now'>
  providerOf(channel: string): ChannelProvider | undefined
}

/**
 * What people may spend and send, as their channels say.
 *
 * 1. A budget is stored: it applies while the channel is not connected, such as when sessions continue after a restart.
 * 2. Messages are counted by the minute, each once.
 */
export class PeopleLimits {
  readonly #options: LimitsOptions
  #minute = 0
  /** The messages of this minute, by principal. */
  readonly #sent = new Map<string, Set<string>>()

  constructor(options: LimitsOptions) {
    this.#options = options
  }

  /** Of the owner of a session: `slack:U1`. `undefined`: no budget. */
  async budgetOf(owner: string): Promise<OwnerBudget | undefined> {
    const end = owner.indexOf(':')
    const [channel, id] = [owner.slice(0, end), owner.slice(end + 1)]
    const { records, providerOf } = this.#options
    const stored = (await records.get(namespace, owner))?.value as OwnerBudget | undefined
    const provider = providerOf(channel)
    if (end < 0 || !provider) return stored
    const { budget } = await this.#limitsOf(channel, { id })
    if (!haveSameJson(stored ?? {}, budget ?? {}))
      await records.update(namespace, owner, () => (budget ? { value: { ...budget } } : undefined))
    return budget
  }

  /** Counts a message. If it is one too many: the time of the next one, in milliseconds since 1970, and the limit as a text. */
  async refusal(
    channel: string,
    person: Person,
    messageId: string,
  ): Promise<{ readonly until: number; readonly limit: string } | undefined> {
    const { messagesPerMinute: most } = await this.#limitsOf(channel, person)
    if (most === undefined) return undefined
    const minute = Math.floor(this.#options.clock.now() / minuteMs)
    if (minute !== this.#minute) this.#sent.clear()
    this.#minute = minute
    const owner = principalIdOf({ channel }, person)
    const sent = this.#sent.get(owner) ?? new Set()
    this.#sent.set(owner, sent)
    if (sent.has(messageId)) return undefined
    if (sent.size >= most) return { until: (minute + 1) * minuteMs, limit: plural(most, 'message') }
    sent.add(messageId)
    return undefined
  }

  async #limitsOf(channel: string, { id }: Person): Promise<PersonLimits> {
    const given = await this.#options.providerOf(channel)?.limitsOf?.(id)
    return optional(personLimits)(given, `limitsOf(${JSON.stringify(id)}) of ${channel}`) ?? {}
  }
}
