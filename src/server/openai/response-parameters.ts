import { commonParameters } from './chat-parameters.ts'
import type { ParameterTable } from './parameters.ts'

/** `POST /v1/responses`. */
export const responseParameters: ParameterTable = {
  ...commonParameters,
  input: { use: 'used', note: 'A text, or items: messages, and items of earlier answers. The last one is the input, or outputs of calls.' },
  instructions: { use: 'used', note: 'Added after the prompt of the agent.' },
  previous_response_id: { use: 'used', note: 'Continues the session of that response.' },
  store: { use: 'used', note: '`false`: the response is not stored. The session as in chat.' },
  background: { use: 'used', note: 'The turn continues without the client. Read the answer with `GET /v1/responses/ID`.' },
  text: { use: 'used', note: '`format` as `response_format` of chat; `verbosity` is ignored.' },
  reasoning: { use: 'used', note: '`effort` overrides `reasoning`. Summaries are sent if the model has some.' },
  max_output_tokens: { use: { overrides: 'maxOutputTokens' }, note: 'Tokens of each reply of the model.' },
  max_tool_calls: { use: 'used', note: 'A lower limit for the calls of the turn.' },
  include: { use: 'ignored', note: 'For calls of the agent, see the header `x-troupe-include`.' },
  truncation: { use: 'ignored', defaults: ['auto', 'disabled'], note: 'Troupe compacts a history that is too long.' },
  context_management: { use: 'ignored', note: 'Troupe compacts histories on its own.' },
  messages: { use: 'refused', note: 'Use `input`.' },
  response_format: { use: 'refused', note: 'Use `text.format`.' },
  image: { use: 'refused', note: 'Agents answer with text.' },
}
