import { describe, expect, it } from 'vitest'
import { isTooLong } from './http-failure.ts'

describe('a request that is too long', () => {
  it.each([
    ['OpenAI', "This model's maximum context length is 8192 tokens. However, your messages resulted in 9104 tokens."],
    ['OpenAI responses', 'Your input exceeds the context window of this model. Please adjust your input and try again.'],
    ['OpenAI, by code', 'invalid_request_error context_length_exceeded'],
    ['OpenAI, one string', "string_above_max_length Invalid 'messages[1].content': string too long."],
    [
      'OpenAI, over the minute',
      'tokens rate_limit_exceeded Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 36055. The input or output tokens must be reduced in order to run successfully.',
    ],
    ['Anthropic', 'prompt is too long: 210482 tokens > 200000 maximum'],
    [
      'Anthropic, with its reply',
      'input length and `max_tokens` exceed context limit: 178959 + 64000 > 200000, decrease input length or `max_tokens` and try again',
    ],
    ['Anthropic, bytes', 'request_too_large Request exceeds the maximum size'],
    ['Gemini', 'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).'],
    [
      'Vertex',
      'Unable to submit request because the input token count is 1100000 but model only supports up to 1048576: it exceeds the limit.',
    ],
    ['xAI', "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
    ['Mistral', 'Prompt contains 41231 tokens and 0 draft tokens, too large for model with 32768 maximum context length'],
    ['Groq', 'Please reduce the length of the messages or completion.'],
    ['Bedrock', 'ValidationException Input is too long for requested model.'],
    ['vLLM', "Input length (265330) exceeds model's maximum context length (262144)."],
    ['vLLM, older', 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.'],
    ['llama.cpp', 'exceed_context_size_error the request exceeds the available context size, try increasing it'],
    ['LM Studio', 'The number of tokens to keep from the initial prompt is greater than the context length.'],
    ['Poolside', 'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.'],
    ['Perplexity', 'The total length of all messages is too long.'],
    ['TGI', 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000 `inputs` tokens'],
  ])('%s', (_, words) => expect(isTooLong(words)).toBe(true))

  it.each([
    ['a throttle', 'ThrottlingException: Too many tokens, please wait before trying again.'],
    ['a rate', 'rate_limit_error This request would exceed your rate limit of 30,000 input tokens per minute.'],
    ['a cap on the reply', 'max_tokens is too large: 100000. This model supports at most 16384 completion tokens.'],
    ['a number that is none', 'max_tokens: the number of tokens must be positive'],
    ['a parameter', "Unknown parameter: 'reasoning'."],
    ['nothing', ''],
  ])('is not %s', (_, words) => expect(isTooLong(words)).toBe(false))
})
