import type { Approver, Clock, MaybePromise, OwnerBudget, OwnerUsages } from '../../contracts/index.ts'
import { OwnerAccounts } from '../budgets/owner-accounts.ts'
import type { RuntimeHost, RuntimeObserver, RuntimeOptions } from '../options/agent-runtime.ts'
import { denyAll } from './default-ports.ts'

interface AccountPorts {
  readonly usages: OwnerUsages
  readonly clock: Pick<Clock, 'now' | 'after'>
}

/** Approver, budgets and observer of a runtime: its own, then those of the server that it has joined. */
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

  use(host: RuntimeHost): void {
    this.#host = host
    this.#openAccounts()
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
    const { budgetOf } = this.#host
    const own = this.#own.budgetOf?.(owner)
    if (!budgetOf) return own
    return own instanceof Promise ? own.then((budget) => budget ?? budgetOf(owner)) : (own ?? budgetOf(owner))
  }
}
