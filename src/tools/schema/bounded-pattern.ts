import { createContext, Script } from 'node:vm'

/** A repetition within a repetition: such a pattern can take longer than anybody lives. */
const nestedRepetition = /\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*[+*}|](?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)(?:[+*]|\{\d+,)/
const longestUnbounded = 24
const timeoutMs = 100

let bounded: { readonly script: Script; readonly context: { pattern?: RegExp; text?: string } } | undefined

/** Patterns come from other people's schemas, and texts from models: one that does not end is a text that does not fit. */
export function boundedPattern(source: string, flags: string): { test(text: string): boolean } {
  const pattern = new RegExp(source, flags)
  if (!nestedRepetition.test(source)) return pattern
  return {
    test(text) {
      if (text.length <= longestUnbounded) return pattern.test(text)
      bounded ??= { script: new Script('pattern.test(text)'), context: createContext({}) as { pattern?: RegExp; text?: string } }
      bounded.context.pattern = pattern
      bounded.context.text = text
      try {
        return bounded.script.runInContext(bounded.context, { timeout: timeoutMs }) === true
      } catch {
        return false
      }
    },
  }
}
boundedPattern.code = 'boundedPattern'
