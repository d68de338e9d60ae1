import {
  addOwnerUsage,
  type Cost,
  type InteractionEvent,
  type OwnerUsage,
  type Reservation,
  type SessionId,
  subtractOwnerUsage,
  type Usage,
  type UsageCharge,
} from '../../contracts/index.ts'
import { decide, minAnswerTokens, type OwnerDayAccount, priceOf, type SessionState } from '../../core/index.ts'
import { Interrupt } from '../../util/interrupt.ts'
import type { BudgetQueue, Place } from './budget-queue.ts'
import { noUse, type ResourceUse } from './open-sessions.ts'
import { type FirstRequest, nothing, type OwnerAccount } from './owner-account.ts'

const openTurn: ResourceUse = { ...noUse, openTurns: 1 }
const selection = 'selection'

/**
 * The part of one tree in the account of its owner, folded from its events.
 *
 * 1. Every step that ends is charged once, in the batch that contains its end. What is not stored is not charged.
 * 2. After `leave` nothing of the tree counts, except what is stored.
 */
export class TreeAccount {
  readonly account: OwnerAccount
  /** Sessions with an open turn, and what their requests reserve; also the request that selects the agent. */
  readonly #sessions = new Map<SessionId | typeof selection, ResourceUse>()
  /** What ended steps have used, by `seq`, until it is passed to the journal. */
  readonly #recorded = new Map<number, OwnerUsage>()
  /** Recorded, and not stored yet. */
  #unstored = noUse
  /** What the first request of an accepted turn needs at least, until it starts. Others cannot have it. */
  #least = nothing
  #isOpen = true

  constructor(account: OwnerAccount) {
    this.account = account
    account.enter()
  }

  get queue(): BudgetQueue {
    return this.account.queue
  }

  get isCostBound(): boolean {
    return this.account.isCostBound
  }

  accounts(reserve = nothing): readonly OwnerDayAccount[] {
    return this.account.accounts(subtractOwnerUsage(reserve, this.#least))
  }

  /** Reserves for the first request of a turn. @throws BudgetExhaustedError if what is left pays no answer. */
  async requireBudget(begun: SessionState, interrupt: Interrupt): Promise<void> {
    if (this.#reserveFirst(begun, false)) return
    const place: Place = { ticket: undefined }
    const isReady = (): boolean => decide(begun, this.accounts()).kind !== 'defer'
    const late = new Interrupt(interrupt)
    const cancel = this.account.patience(() => late.fire('late'))
    try {
      while (!this.#reserveFirst(begun, late.reason !== undefined)) await this.queue.enter(place, isReady, late)
    } finally {
      cancel()
      late.close()
    }
  }

  /** `false`: it has to wait. */
  #reserveFirst(begun: SessionState, isLate: boolean): boolean {
    const first = this.account.firstRequest(begun, isLate)
    if (first === 'wait') return false
    if (!first) return true
    this.#least = leastOf(begun, first)
    this.#set(begun.sessionId, first.isNow ? useOf(first.reservation) : { ...openTurn, ...this.#least })
    return true
  }

  /** Reserves for the request that selects the agent. Returns the budget of which it would take more than half. */
  reserveSelection(reservation: Reservation): 'tokens' | 'cost' | undefined {
    const { tokens, costUsd } = useOf(reservation)
    const short = this.accounts().find(({ resource, left }) => (resource === 'tokens' ? tokens : costUsd) > left / 2)
    if (!short) this.#set(selection, useOf(reservation))
    return short?.resource
  }

  /** Returns whether a request has ended, or has given back what was reserved before the turn: others that wait may proceed. */
  observe(event: InteractionEvent): boolean {
    if (!this.#isOpen) return false
    switch (event.type) {
      case 'interaction.turn.started': {
        const isReserved = this.#sessions.get(event.sessionId)?.inFlight === 1
        this.#set(event.sessionId, { ...openTurn, ...this.#least })
        return isReserved
      }
      case 'interaction.step.started':
        this.#least = nothing
        this.#set(event.sessionId, useOf(event.reservation))
        return false
      case 'interaction.step.completed':
      case 'interaction.step.failed':
        this.#record(event.seq, event.usage, this.#paid(event.sessionId, event.cost))
        this.#set(event.sessionId, openTurn)
        return true
      case 'interaction.subagent.selected':
        if (!event.asked) return false
        this.#record(event.seq, event.asked.usage, event.asked.paidUsd)
        this.#set(selection, undefined)
        return true
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted':
        this.#least = nothing
        this.#set(event.sessionId, undefined)
        return false
      default:
        return false
    }
  }

  /** What a batch charges. */
  chargeFor(events: readonly InteractionEvent[]): UsageCharge | undefined {
    if (this.#recorded.size === 0) return undefined
    let sum = nothing
    for (const { seq } of events) {
      const used = this.#recorded.get(seq)
      if (!used) continue
      this.#recorded.delete(seq)
      sum = addOwnerUsage(sum, used)
    }
    if (sum.tokens === 0 && sum.costUsd === 0) return undefined
    return { owner: this.account.owner, period: this.account.today(), ...sum }
  }

  /** A batch with this charge is in the store. */
  stored(charge: UsageCharge): void {
    if (this.#isOpen) this.#setUnstored(subtractOwnerUsage(this.#unstored, charge))
    this.account.confirm(charge)
  }

  leave(): void {
    if (!this.#isOpen) return
    for (const session of [...this.#sessions.keys()]) this.#set(session, undefined)
    this.#setUnstored(noUse)
    this.#isOpen = false
    this.queue.wakeReady()
    this.account.leave()
  }

  /** An unknown cost is charged with its reservation. */
  #paid(sessionId: SessionId, cost: Cost): number {
    return cost === 'unknown' ? (this.#sessions.get(sessionId)?.costUsd ?? 0) : cost
  }

  #record(seq: number, { input, output }: Usage, costUsd: number): void {
    const used = { tokens: input + output, costUsd }
    this.#recorded.set(seq, used)
    this.#setUnstored(addOwnerUsage(this.#unstored, used))
  }

  #set(session: SessionId | typeof selection, use: ResourceUse | undefined): void {
    this.account.change(this.#sessions.get(session) ?? noUse, use ?? noUse)
    if (use) this.#sessions.set(session, use)
    else this.#sessions.delete(session)
  }

  #setUnstored({ tokens, costUsd }: OwnerUsage): void {
    const next = { ...noUse, tokens, costUsd }
    this.account.change(this.#unstored, next)
    this.#unstored = next
  }
}

const useOf = ({ input, output, costUsd = 0 }: Reservation): ResourceUse => ({ ...noUse, tokens: input + output, costUsd, inFlight: 1 })

/** Prices are inexact: one token more than the shortest answer. */
function leastOf({ prices }: SessionState, { model, reservation }: FirstRequest): OwnerUsage {
  const least = { input: reservation.input, output: Math.min(reservation.output, minAnswerTokens + 1) }
  const price = prices[model]
  return { tokens: least.input + least.output, costUsd: price ? priceOf(price, least) : 0 }
}
