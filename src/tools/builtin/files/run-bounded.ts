import { type Context, createContext, Script } from 'node:vm'

const script = new Script('run()')
let context: Context | undefined

/** Runs a function and throws when it takes longer than `timeoutMs`. Interrupts regular expressions, too. */
export function runBounded(run: () => void, timeoutMs: number): void {
  context ??= createContext({})
  context.run = run
  script.runInContext(context, { timeout: timeoutMs })
}
