/**
 * One promise of a contract, checked by running it. No test runner is needed:
 * `for (const { name, run } of storeContract(make)) test(name, run)`.
 */
export interface ContractCase {
  readonly name: string
  /** Rejects when the promise is not kept. */
  run(): Promise<void>
}
