import type { ApprovalWish, JsonObject, Tool, ToolContext, ToolOutput } from '../../contracts/index.ts'

const longestQuestion = 2_000
const mostOptions = 10
const longestOption = 200

/** Asks a person. The question is an approval request, so it can be answered from anywhere and much later. */
export function askUserTool(): Tool {
  return {
    name: 'ask_user',
    description:
      'Ask the user a question. Use it only if the user alone knows the answer and a wrong guess would be costly. Otherwise decide yourself and say so.',
    inputSchema,
    effect: 'read',
    concurrency: 'shared',
    approval: questionOf,
    execute: answered,
  }
}

const inputSchema = {
  type: 'object',
  properties: {
    question: { type: 'string', minLength: 1, maxLength: longestQuestion, description: 'One question that makes sense on its own.' },
    options: {
      type: 'array',
      minItems: 2,
      maxItems: mostOptions,
      uniqueItems: true,
      items: { type: 'string', minLength: 1, maxLength: longestOption },
      description: 'Suggested answers. The user may answer something else.',
    },
  },
  required: ['question'],
  additionalProperties: false,
}

function questionOf({ question, options }: JsonObject): ApprovalWish {
  const text = String(question).trim()
  const choices = Array.isArray(options) ? options.map((option) => String(option).trim()) : undefined
  // There are no keys: no rule or grant can answer it.
  return { summary: text, keys: [], question: { text, ...(choices && { options: choices }) } }
}

function answered(_input: JsonObject, { answer }: ToolContext): ToolOutput {
  if (answer !== undefined) return { ok: true, content: answer.trim() === '' ? 'The answer is empty.' : answer }
  const remedy = 'Continue with the most likely answer, state your assumption, and do nothing irreversible.'
  return { ok: false, error: { class: 'failed', message: 'Nobody answered.', remedy } }
}
