import type { ParameterRule, ParameterTable } from './parameters.ts'

const oldFunctions = 'Send `tools`.'
const sampling = (overrides: 'temperature' | 'topP' | 'seed' | 'reasoning' | 'maxOutputTokens', note: string): ParameterRule => ({
  use: { overrides },
  note,
})

/** Parameters that both endpoints have. */
export const commonParameters: ParameterTable = {
  model: { use: 'used', note: 'The name of an agent.' },
  stream: { use: 'used', note: 'Server-sent events.' },
  stream_options: { use: 'used', note: '`include_usage` for chat; `include_obfuscation` has no effect.' },
  user: { use: 'used', note: 'The label `user:VALUE` of the session, cut to 64 characters.' },
  metadata: { use: 'used', note: 'Labels `KEY=VALUE` of the session, cut to 64 characters.' },
  parallel_tool_calls: { use: 'used', note: '`false`: the agent runs one call at a time.' },
  temperature: sampling('temperature', 'Sampling temperature.'),
  top_p: sampling('topP', 'Nucleus sampling.'),
  safety_identifier: { use: 'ignored', note: 'Not passed to the provider of the model.' },
  prompt_cache_key: { use: 'ignored', note: 'Troupe asks providers to cache on its own.' },
  prompt_cache_retention: { use: 'ignored', note: 'See `prompt_cache_key`.' },
  prompt_cache_options: { use: 'ignored', note: 'See `prompt_cache_key`.' },
  service_tier: { use: 'ignored', defaults: ['auto', 'default'], note: 'The models of the agent decide.' },
  tools: { use: 'used', note: 'Tools that the client runs: `function` and `custom`. Others are left out. The agent must allow them.' },
  tool_choice: { use: 'used', note: 'For the next step of the agent.' },
  top_logprobs: { use: 'refused', defaults: [0], note: 'Models of agents report no probabilities.' },
  moderation: { use: 'refused', note: 'Use a hook of the agent.' },
  n: { use: 'refused', defaults: [1], note: 'One request has one answer.' },
  stop: { use: 'refused', note: 'An answer ends where the agent ends it.' },
  logprobs: { use: 'refused', defaults: [false], note: 'Models of agents report no probabilities.' },
  logit_bias: { use: 'refused', note: 'Agents have no such setting.' },
  audio: { use: 'refused', note: 'Agents answer with text.' },
  functions: { use: 'refused', note: oldFunctions },
  function_call: { use: 'refused', defaults: ['none', 'auto'], note: oldFunctions },
  web_search_options: { use: 'refused', note: 'Give the agent a tool for it.' },
  conversation: { use: 'refused', note: 'Use `previous_response_id` of responses.' },
  prompt: { use: 'refused', note: 'The agent has its own prompt.' },
}

/** `POST /v1/chat/completions`. */
export const chatParameters: ParameterTable = {
  ...commonParameters,
  messages: {
    use: 'used',
    note: 'The last one is the input, or results of calls; the others are the history. `system` and `developer`: instructions.',
  },
  response_format: { use: 'used', note: '`json_schema`: the answer is checked. `json_object`: the schema of the agent, or any object.' },
  store: { use: 'used', note: '`false`: the session is deleted after its turn, unless the agent has `keepSessions`.' },
  max_completion_tokens: sampling('maxOutputTokens', 'Tokens of each reply of the model.'),
  max_tokens: sampling('maxOutputTokens', 'Older name of `max_completion_tokens`.'),
  seed: sampling('seed', 'Seed of the sampling.'),
  reasoning_effort: sampling('reasoning', 'Reasoning effort. `max` is `xhigh`.'),
  frequency_penalty: { use: 'ignored', defaults: [0], note: 'No agent can allow it.' },
  presence_penalty: { use: 'ignored', defaults: [0], note: 'No agent can allow it.' },
  verbosity: { use: 'ignored', defaults: ['medium'], note: 'Ask for short answers in a system message.' },
  prediction: { use: 'ignored', note: 'It only saves time.' },
  modalities: { use: 'used', note: '`["text"]` only.' },
  instructions: { use: 'refused', note: 'Send a system message.' },
  previous_response_id: { use: 'refused', note: 'Send the earlier messages.' },
}
