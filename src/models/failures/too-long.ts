/**
 * How providers say that a request is longer than the model can take. There is no status of its own for it, and hardly
 * two say it alike: OpenAI and those who copy it by a code, Anthropic, Gemini, xAI, Mistral, Bedrock, vLLM, llama.cpp and
 * LM Studio in words, some of them with a status that blames the server.
 */
const sayings: readonly RegExp[] = [
  /context_length_exceeded|string_above_max_length|request_too_large|exceed_context_size|CONTEXT_OVERFLOW/i,
  /context[_ ](?:length|window|size|limit)/i,
  /(?:prompt|input|request|length of all messages) (?:is )?too (?:long|large)/i,
  /(?:token count|input length|prompt length|input tokens?|prompt|decoder prompt)\b.{0,80}\b(?:exceeds?|longer than|must be <=?) /i,
  /maximum prompt length|too large for model|reduce the length of the (?:messages|input|prompt)/i,
  /tokens\W.{0,40}must be <=|too many (?:input |prompt )?tokens|exceeds? the (?:maximum|available) number of tokens/i,
]

/** Whoever has to wait has been asked too often, however long the request is. */
const waiting = /throttl|please (?:wait|retry|try again (?:in|after))|rate.?limit/i

/** A request that alone is over what is allowed in a minute does not get through by waiting. */
const overItsLimit = /request too large for|tokens must be reduced in order to run/i

export function isTooLong(words: string): boolean {
  if (overItsLimit.test(words)) return true
  return sayings.some((saying) => saying.test(words)) && !waiting.test(words)
}
