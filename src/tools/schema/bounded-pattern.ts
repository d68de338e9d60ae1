import { runBounded } from './run-bounded.ts'

/** A repetition within a repetition can take exponential time. */
const nestedRepetition = /\((?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*[+*}|](?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)(?:[+*]|\{\d+,)/
const longestUnbounded = 24
const timeoutMs = 100

/** Patterns come from schemas of other people, texts from models. A text whose match times out does not match. */
export function boundedPattern(source: string, flags: string): { test(text: string): boolean } {
  const pattern = new RegExp(source, flags)
  if (!nestedRepetition.test(source)) return pattern
  return {
    test(text) {
      if (text.length <= longestUnbounded) return pattern.test(text)
      try {
        return runBounded(() => pattern.test(text), timeoutMs)
      } catch {
        return false
      }
    },
  }
}
boundedPattern.code = 'boundedPattern'
