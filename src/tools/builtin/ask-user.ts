import type { ApprovalWish, JsonObject, Tool, ToolContext, ToolOutput } from '../../contracts/index.ts'

const askUserName = 'ask_user'

const longestQuestion = 2_000
const mostOptions = 10
const longestOption = 200

/** Asks a person something. The question goes the way of approvals, so it may be answered anywhere, and much later. */
export function askUserTool(): Tool {
  return {
    name: askUserName,
    description:
      'Asks the person whom you work for. Use it where only they can tell and a wrong guess would cost them; otherwise decide yourself and say so.',
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
    question: { type: 'string', minLength: 1, maxLength: longestQuestion, description: 'One question, which can be understood by itself.' },
    options: {
      type: 'array',
      minItems: 2,
      maxItems: mostOptions,
      uniqueItems: true,
      items: { type: 'string', minLength: 1, maxLength: longestOption },
      description: 'Answers to choose from, where they are known. Another answer may come, too.',
    },
  },
  required: ['question'],
  additionalProperties: false,
}

function questionOf({ question, options }: JsonObject): ApprovalWish {
  const text = String(question).trim()
  const choices = Array.isArray(options) ? options.map((option) => String(option).trim()) : undefined
  // Nothing is done here that a rule or a grant could allow.
  return { summary: text, keys: [], question: { text, ...(choices && { options: choices }) } }
}

function answered(_input: JsonObject, { answer }: ToolContext): ToolOutput {
  if (answer !== undefined) return { ok: true, content: answer.trim() === '' ? 'The answer is empty.' : answer }
  const remedy = 'Go on with what is most likely right, say what you have assumed, and do nothing that could not be undone.'
  return { ok: false, error: { class: 'failed', message: 'Nobody was there to answer.', remedy } }
}
