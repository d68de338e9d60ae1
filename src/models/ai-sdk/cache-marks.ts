import type { LanguageModelV4FunctionTool, LanguageModelV4Message } from '@ai-sdk/provider'

const mark = { providerOptions: { anthropic: { cacheControl: { type: 'ephemeral' } } } } as const

/**
 * Asks Anthropic to keep the beginning of the request. Of the four marks that a request may bear it takes three:
 *
 * 1. the system text, which the tools go before: other sessions of the same agent share it;
 * 2. the last message that we sent before this one: there the request before this one ended, so there the cache hits;
 * 3. the last message: there the next request will look.
 */
export function withCacheMarks(prompt: readonly LanguageModelV4Message[]): LanguageModelV4Message[] {
  const ours = prompt.flatMap(({ role }, index) => (role === 'user' || role === 'tool' ? [index] : []))
  const marked = new Set([...ours.slice(-2), prompt.findIndex(({ role }) => role === 'system')])
  return prompt.map((message, index) => (marked.has(index) ? { ...message, ...mark } : message))
}

/** Without a system text the last tool ends what sessions have in common. */
export function withCacheMark(tools: readonly LanguageModelV4FunctionTool[]): LanguageModelV4FunctionTool[] {
  return tools.map((tool, index) => (index === tools.length - 1 ? { ...tool, ...mark } : tool))
}
