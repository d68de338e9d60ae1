import type { JsonObject } from '../../contracts/index.ts'

// What an agent of an extension is given.

export const agentInputSchema = {
  type: 'object',
  properties: {
    task: { type: 'string', minLength: 1, description: 'The task, with all the context the agent needs: it sees nothing else.' },
    context: { type: 'object', description: 'Data for the task.' },
  },
  required: ['task'],
  additionalProperties: false,
} as const

/** The text that an agent gets. */
export const taskText = (task: string, context: JsonObject | undefined): string =>
  context === undefined || Object.keys(context).length === 0 ? task : `${task}\n\nContext:\n${JSON.stringify(context, undefined, 2)}`
