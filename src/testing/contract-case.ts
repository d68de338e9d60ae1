/**
 * One case of a contract suite. It works with any test runner:
 * `for (const { name, run } of storeContract(make)) test(name, run)`.
 */
export interface ContractCase {
  readonly name: string
  /** Rejects if the case fails. */
  run(): Promise<void>
}
