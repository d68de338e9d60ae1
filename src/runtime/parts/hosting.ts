import type { Approver, Clock, MaybePromise, OwnerBudget, OwnerUsages } from '../../contracts/index.ts'
import { OwnerAccounts } from '../budgets/owner-accounts.ts'
import type { RuntimeHost, RuntimeObserver, RuntimeOptions } from '../options/agent-runtime.ts'
import { denyAll } from './default-ports.ts'

const least = (one = Number.POSITIVE_INFINITY, other = Number.POSITIVE_INFINITY): number | undefined => {
  const value = Math.min(one, other)
  return Number.isFinite(value) ? value : undefined
}

/** Both apply. */
function stricter(one: OwnerBudget, other: OwnerBudget): OwnerBudget {
  const tokensPerDay = least(one.tokensPerDay, other.tokensPerDay)
  const costUsdPerDay = least(one.costUsdPerDay, other.costUsdPerDay)
  return { ...(tokensPerDay !== undefined && { tokensPerDay }), ...(costUsdPerDay !== undefined && { costUsdPerDay }) }
}

interface AccountPorts {
  readonly usages: OwnerUsages
  readonly clock: Pick<Clock, 'now' | 'after'>
}

/** Approver and observer of a runtime: its own, or those of the server that it has joined. Budgets of both apply. */
export class Hosting {
  readonly #own: Pick<RuntimeOptions, 'approver' | 'budgetOf'>
  readonly #ports: AccountPorts
  #host: RuntimeHost = {}
  #accounts: OwnerAccounts | undefined

  constructor(own: Pick<RuntimeOptions, 'approver' | 'budgetOf'>, ports: AccountPorts) {
    this.#own = own
    this.#ports = ports
    this.#openAccounts()
  }

  /** Returns how it ends. */
  use(host: RuntimeHost): () => void {
    this.#host = host
    this.#openAccounts()
    return () => {
      if (this.#host === host) this.#host = {}
    }
  }

  get approver(): Approver {
    return this.#own.approver ?? this.#host.approver ?? denyAll
  }

  get observer(): RuntimeObserver | undefined {
    return this.#host.observer
  }

  /** Absent if no owner can have a budget. */
  get accounts(): OwnerAccounts | undefined {
    return this.#accounts
  }

  #openAccounts(): void {
    if (!this.#accounts && (this.#own.budgetOf || this.#host.budgetOf))
      this.#accounts = new OwnerAccounts({ ...this.#ports, budgetOf: (owner) => this.#budgetOf(owner) })
  }

  #budgetOf(owner: string): MaybePromise<OwnerBudget | undefined> {
    const { budgetOf: own } = this.#own
    const { budgetOf: hosted } = this.#host
    if (!own || !hosted) return (own ?? hosted)?.(owner)
    return Promise.all([own(owner), hosted(owner)]).then(([one, other]) => (one && other ? stricter(one, other) : (one ?? other)))
  }
}
