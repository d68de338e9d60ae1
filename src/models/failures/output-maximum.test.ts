import { expect, it } from 'vitest'
import { type OutputMaximum, outputMaximum } from './output-maximum.ts'

const refusal = (message: string, statusCode = 400) =>
  Object.assign(new Error(message), { statusCode, responseBody: JSON.stringify({ error: { message } }) })

const ofModel = (tokens: number): OutputMaximum => ({ tokens, isForRequest: false })
const ofRequest = (tokens: number): OutputMaximum => ({ tokens, isForRequest: true })

it.each<[string, string, OutputMaximum | undefined]>([
  [
    'OpenAI',
    'max_tokens is too large: 32000. This model supports at most 16384 completion tokens, whereas you provided 32000.',
    ofModel(16_384),
  ],
  ['Anthropic', 'max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for claude-3-5', ofModel(8_192)],
  ['Gemini', 'maxOutputTokens value of 32000 but the supported range is from 1 (inclusive) to 8193 (exclusive).', ofModel(8_192)],
  ['DeepSeek', 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', ofModel(8_192)],
  ['Groq', '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens`', ofModel(8_192)],
  [
    'OpenAI, older',
    "This model's maximum context length is 8192 tokens. However, you requested 32010 tokens (10 in the messages, 32000 in the completion).",
    ofRequest(8_182),
  ],
  [
    'vLLM',
    "'max_tokens' is too large: 32000. The maximum context length is 8192 tokens and your request has 10 input tokens (32000 > 8192 - 10).",
    ofRequest(8_182),
  ],
  ['something else', 'Unsupported parameter: temperature', undefined],
])('reads the maximum that %s names when it refuses more', (_, message, most) => {
  expect(outputMaximum(refusal(message))).toEqual(most)
  expect(outputMaximum(refusal(message, 500))).toBeUndefined()
})
