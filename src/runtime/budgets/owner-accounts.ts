import type { Clock, MaybePromise, OwnerBudget, OwnerUsages, Problem } from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import { isThenable } from '../../util/is-thenable.ts'
import { checkOnlyFields, configError, expectObject, type FieldType, optional } from '../../util/option-problems.ts'
import { maxAnswerMs, withDeadline } from '../../util/with-deadline.ts'
import { OwnerAccount } from './owner-account.ts'
import { TreeAccount } from './tree-account.ts'

interface OwnerAccountsOptions {
  budgetOf(owner: string): MaybePromise<OwnerBudget | undefined>
  readonly usages: OwnerUsages
  readonly clock: Pick<Clock, 'now' | 'after'>
}

/** The accounts of the owners whose sessions are driven here. */
export class OwnerAccounts {
  readonly #options: OwnerAccountsOptions
  readonly #accounts = new Map<string, OwnerAccount>()

  constructor(options: OwnerAccountsOptions) {
    this.#options = options
  }

  /** For a tree that starts or continues a turn. `undefined` if its owner has no budget. An interrupt does not wait for the program. */
  async open(owner: string, interrupt?: Interrupt): Promise<TreeAccount | undefined> {
    const budget = await this.#budgetOf(owner, interrupt)
    const account = isBound(budget) ? this.#find(owner, budget) : undefined
    if (!account) return undefined
    const tree = new TreeAccount(account)
    try {
      await account.read()
      return tree
    } catch (error) {
      tree.leave()
      throw error
    }
  }

  /**
   * For a turn that begins later. Nothing is reserved for it.
   *
   * @throws BudgetExhaustedError if what is left to the owner today pays no answer.
   */
  async requireBudget(owner: string, begun: () => MaybePromise<SessionState>, interrupt: Interrupt): Promise<void> {
    const tree = await this.open(owner, interrupt)
    try {
      tree?.account.refuseIfExhausted()
      if (tree) await tree.requireBudget(await begun(), interrupt)
    } finally {
      tree?.leave()
    }
  }

  /** Before a further turn: what has changed since. */
  async refresh({ account }: TreeAccount): Promise<void> {
    await this.#budgetOf(account.owner)
    await account.read()
  }

  /** A changed budget applies to all sessions of the owner from now on. */
  async #budgetOf(owner: string, interrupt?: Interrupt): Promise<OwnerBudget> {
    const budget = checkedBudget(owner, await this.#given(owner, interrupt))
    const known = this.#accounts.get(owner)
    if (known) known.budget = budget
    return budget
  }

  /** The budgets come from the program. */
  async #given(owner: string, interrupt: Interrupt | undefined): Promise<OwnerBudget | undefined> {
    const { clock } = this.#options
    const given = this.#options.budgetOf(owner)
    if (!isThenable(given)) return given
    const late = `${placeOf(owner)} did not answer within ${maxAnswerMs / 1000} s.`
    return withDeadline(given, { clock, ms: maxAnswerMs, interrupt, late })
  }

  #find(owner: string, budget: OwnerBudget): OwnerAccount {
    const known = this.#accounts.get(owner)
    if (known) return known
    const { usages, clock } = this.#options
    const account = new OwnerAccount(owner, budget, { usages, clock, unused: (each) => this.#remove(each) })
    this.#accounts.set(owner, account)
    return account
  }

  #remove(account: OwnerAccount): void {
    if (this.#accounts.get(account.owner) === account) this.#accounts.delete(account.owner)
  }
}

const isBound = ({ tokensPerDay, costUsdPerDay }: OwnerBudget): boolean => tokensPerDay !== undefined || costUsdPerDay !== undefined

const amount: FieldType = optional({
  expected: 'a number of at least 0',
  accepts: (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
})
const budgetFields = { tokensPerDay: amount, costUsdPerDay: amount } satisfies { readonly [Key in keyof OwnerBudget]-?: FieldType }

const placeOf = (owner: string): string => `budgetOf(${JSON.stringify(owner)})`

function checkedBudget(owner: string, given: OwnerBudget | undefined): OwnerBudget {
  const problems: Problem[] = []
  const place = placeOf(owner)
  if (expectObject(problems, given, place)) checkOnlyFields(problems, given, { fields: budgetFields, place })
  if (problems.length > 0) throw configError(problems)
  return { ...given }
}
