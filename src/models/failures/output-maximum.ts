import { bodyText, readError } from './error-facts.ts'

/** How providers name the maximum output of a model, when they refuse a larger one. */
const maximums: readonly RegExp[] = [
  // OpenAI, Anthropic, DeepSeek, Groq.
  /supports at most (\d+) completion tokens/i,
  /max_tokens: \d+ > (\d+)/i,
  /range of max_tokens is \[1, ?(\d+)\]/i,
  /max_(?:completion_|output_)?tokens\W{1,3}must be (?:less than or equal to|<=|at most)\W{1,3}(\d+)/i,
]
/** Gemini: the end of the range is exclusive. */
const beyond = /range is from 1 \(inclusive\) to (\d+) \(exclusive\)/i
/** OpenAI's older models, vLLM: the context window, and the part that the request uses. */
const windows: readonly RegExp[] = [
  /maximum context length is (\d+) tokens.{0,80}?\((\d+) in the (?:messages|prompt|text|input)/i,
  /\(\d+ > (\d+) - (\d+)\)/,
]

export interface OutputMaximum {
  readonly tokens: number
  /** It is the rest of the window after this request: another request may have more. */
  readonly isForRequest: boolean
}

/** The maximum output of the model, if the provider refused a larger one. */
export function outputMaximum(error: unknown): OutputMaximum | undefined {
  const { body, message, status } = readError(error)
  if (status !== undefined && status !== 400 && status !== 422) return undefined
  const said = `${message} ${bodyText(body) ?? body}`
  for (const saying of maximums) {
    const found = saying.exec(said)?.[1]
    if (found !== undefined) return { tokens: Number(found), isForRequest: false }
  }
  const end = beyond.exec(said)?.[1]
  if (end !== undefined) return { tokens: Number(end) - 1, isForRequest: false }
  for (const saying of windows) {
    const [, window, taken] = saying.exec(said) ?? []
    if (window !== undefined) return { tokens: Number(window) - Number(taken), isForRequest: true }
  }
  return undefined
}
