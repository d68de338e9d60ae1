import {
  addOwnerUsage,
  BudgetExhaustedError,
  type Clock,
  type OwnerBudget,
  type OwnerUsage,
  type OwnerUsages,
  subtractOwnerUsage,
  subtractUsd,
  type UsageCharge,
} from '../../contracts/index.ts'
import { type Action, type AskAction, decide, type OwnerDayAccount, type SessionState } from '../../core/index.ts'
import { limitText, raiseLimitText } from '../../policy/limit-texts.ts'
import { nextUtcDay, utcDay } from '../../util/utc-day.ts'
import { BudgetQueue } from './budget-queue.ts'
import { addUse, noUse, type ResourceUse, subtractUse } from './open-sessions.ts'

interface OwnerAccountPorts {
  readonly usages: OwnerUsages
  readonly clock: Pick<Clock, 'now' | 'after'>
  /** Called when no tree uses the account any more. */
  unused(account: OwnerAccount): void
}

export const nothing: OwnerUsage = { tokens: 0, costUsd: 0 }

/** How long a session that is not created yet waits for requests in flight. */
const maxWaitMs = 30_000

/** The first request of a turn. `isNow`: it need not wait for others. */
export interface FirstRequest extends Pick<AskAction, 'model' | 'reservation'> {
  readonly isNow: boolean
}

/**
 * What all sessions of one owner may use together in a day, over all trees that this runtime drives.
 *
 * 1. Used is what the store has, what is recorded and not stored yet, and what requests in flight reserve. A request starts only
 *    within the rest, so that parallel sessions cannot exceed the budget.
 * 2. A step belongs to the day (UTC) in which it completes. The day never goes back, whatever the clock does.
 * 3. When a request ends, or a tree leaves with one, the waiting sessions of all trees are woken in order of arrival.
 * 4. Charges of other processes are known from the last `read`; their requests in flight are not.
 */
export class OwnerAccount {
  readonly owner: string
  budget: OwnerBudget
  /** Shared by all trees: a session waits here for the requests of any of them. */
  readonly queue = new BudgetQueue()
  readonly #ports: OwnerAccountPorts
  #trees = 0
  #day = ''
  /** What was spent on `#day`, as far as known. */
  #stored = nothing
  /** Charges of this account that the store has confirmed since it was opened. */
  #confirmed = nothing
  /** Recorded and not stored yet, and reserved. */
  #use = noUse
  #reading: Promise<void> | undefined

  constructor(owner: string, budget: OwnerBudget, ports: OwnerAccountPorts) {
    this.owner = owner
    this.budget = budget
    this.#ports = ports
  }

  get isCostBound(): boolean {
    return this.budget.costUsdPerDay !== undefined
  }

  /** What is left, for a session whose ancestors need `reserve` for their last answers. */
  accounts(reserve: OwnerUsage = nothing): readonly OwnerDayAccount[] {
    const period = this.today()
    const { tokensPerDay, costUsdPerDay } = this.budget
    const { inFlight, openTurns } = this.#use
    const used = addOwnerUsage(addOwnerUsage(this.#stored, this.#use), reserve)
    const shared = { owner: this.owner, renewsAt: nextUtcDay(Date.parse(period)), inFlight, sharers: Math.max(1, openTurns) }
    const accounts: OwnerDayAccount[] = []
    if (tokensPerDay !== undefined) {
      const left = tokensPerDay - used.tokens
      accounts.push({ key: 'tokensPerDay', resource: 'tokens', limit: tokensPerDay, left, ...shared })
    }
    if (costUsdPerDay !== undefined) {
      const left = subtractUsd(costUsdPerDay, used.costUsd)
      accounts.push({ key: 'costUsdPerDay', resource: 'cost', limit: costUsdPerDay, left, ...shared })
    }
    return accounts
  }

  /** @throws BudgetExhaustedError if nothing at all is left. */
  refuseIfExhausted(): void {
    const { tokens, costUsd } = this.#stored
    const exhausted = this.accounts().find(({ resource, limit }) => (resource === 'tokens' ? tokens : costUsd) >= limit)
    if (exhausted) throw this.#exhausted('The budget of today is exhausted', exhausted)
  }

  /**
   * For a session that would begin its turn now: its first request, if that needs a part of the budget. `wait`: for requests in flight,
   * which may give something back. If it `isLate`, what they leave must pay an answer.
   *
   * @throws BudgetExhaustedError if the rest of today pays no answer, or a whole budget does not.
   */
  firstRequest(begun: SessionState, isLate: boolean): FirstRequest | 'wait' | undefined {
    const left = this.accounts()
    const next = decide(begun, left)
    const least = next.kind === 'defer' ? decide(begun, left.map(alone)) : next
    if (least.kind === 'ask') return next.kind === 'defer' && !isLate ? 'wait' : { ...least, isNow: next.kind === 'ask' }
    const short = shortIn(least, left)
    // Its own limits may allow no answer either: that is the ending of the turn.
    if (!short || decide(begun).kind === 'finish') return undefined
    if (decide(begun, left.map(renewed)).kind === 'finish') throw this.#tooLarge(short)
    if (next.kind !== 'defer') throw this.#exhausted('The rest of the budget of today is too little for an answer', short)
    if (isLate) throw this.#exhausted('Requests in flight hold the rest of the budget of today', short, maxWaitMs)
    return 'wait'
  }

  /** Calls `fire` when a session has waited long enough. */
  patience(fire: () => void): () => void {
    return this.#ports.clock.after(maxWaitMs, fire)
  }

  /** It would be too large tomorrow, too. */
  #tooLarge(account: OwnerDayAccount): BudgetExhaustedError {
    return new BudgetExhaustedError(`An answer to this request needs more than the whole budget of a day: ${limitText(account)}.`, {
      remedy: `Send less, or raise ${account.key} of ${account.owner}.`,
    })
  }

  /** A budget of 0 is never renewed. */
  #exhausted(what: string, account: OwnerDayAccount, soonerMs = Number.POSITIVE_INFINITY): BudgetExhaustedError {
    const { key, limit, owner, renewsAt } = account
    const budget = limitText(account)
    if (limit === 0) return new BudgetExhaustedError(`${what}: ${budget}.`, { remedy: raiseLimitText(account) })
    return new BudgetExhaustedError(`${what}: ${budget}, renewed at ${new Date(renewsAt).toISOString()}.`, {
      remedy: `${soonerMs === maxWaitMs ? 'Try again in 30 seconds' : 'Wait until then'}, or raise ${key} of ${owner}.`,
      renewal: { renewsAt, retryAfterMs: Math.min(soonerMs, Math.max(0, renewsAt - this.#ports.clock.now())) },
    })
  }

  /** The day that a step belongs to which is stored now. */
  today(): string {
    const day = utcDay(this.#ports.clock.now())
    if (day > this.#day) {
      this.#day = day
      this.#stored = nothing
    }
    return this.#day
  }

  /** Reads what all processes have charged. Sessions that wait may proceed then: the budget may have changed, too. */
  async read(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
    this.queue.wakeReady()
  }

  /** A charge that is stored at this moment may be in the answer already. It is then counted twice until the next read. */
  async #read(): Promise<void> {
    const period = this.today()
    const before = this.#confirmed
    const reading = this.#ports.usages.get(this.owner, period)
    const stored = reading instanceof Promise ? await reading : reading
    if (this.today() !== period) return this.#read()
    this.#stored = addOwnerUsage(stored, subtractOwnerUsage(this.#confirmed, before))
  }

  enter(): void {
    this.#trees++
  }

  leave(): void {
    this.#trees--
    if (this.#trees === 0) this.#ports.unused(this)
  }

  change(before: ResourceUse, after: ResourceUse): void {
    this.#use = addUse(this.#use, subtractUse(after, before))
  }

  /** A charge is in the store. */
  confirm(charge: UsageCharge): void {
    this.#confirmed = addOwnerUsage(this.#confirmed, charge)
    if (charge.period === this.today()) this.#stored = addOwnerUsage(this.#stored, charge)
  }
}

/** If the requests in flight give nothing back. */
const alone = (account: OwnerDayAccount): OwnerDayAccount => ({ ...account, inFlight: 0, sharers: 1 })
const renewed = (account: OwnerDayAccount): OwnerDayAccount => alone({ ...account, left: account.limit })

function shortIn(action: Action, accounts: readonly OwnerDayAccount[]): OwnerDayAccount | undefined {
  if (action.kind !== 'finish' || action.ending.status !== 'partial') return undefined
  const { reason } = action.ending
  return accounts.find(({ resource }) => resource === reason)
}
