import { type Context, createContext, Script } from 'node:vm'

let bounded: { readonly script: Script; readonly context: Context } | undefined

/** Runs a function and throws if it takes longer than `timeoutMs`. Interrupts regular expressions, too. */
export function runBounded<Result>(run: () => Result, timeoutMs: number): Result {
  bounded ??= { script: new Script('run()'), context: createContext({}) }
  bounded.context.run = run
  return bounded.script.runInContext(bounded.context, { timeout: timeoutMs }) as Result
}
