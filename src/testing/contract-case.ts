/** One case of a contract suite. It works with any test runner: `for (const { name, run } of storeContract(make)) test(name, run)`. */
export interface ContractCase {
  readonly name: string
  /** Rejects if the case fails. */
  run(): Promise<void>
}

export const asCases = (cases: { readonly [name: string]: () => Promise<void> }): readonly ContractCase[] =>
  Object.entries(cases).map(([name, run]) => ({ name, run }))
