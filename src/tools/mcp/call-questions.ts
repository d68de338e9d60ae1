import type { CreateMessageRequest, CreateMessageResult, ElicitRequest, ElicitResult } from '@modelcontextprotocol/client'
import type { ToolContext } from '../../contracts/index.ts'

/** Answers what a server asks while one of its tools runs. */
export interface CallQuestions {
  /** A form or a URL for a person. */
  elicit(params: ElicitRequest['params'], signal: AbortSignal): Promise<ElicitResult>
  /** A request to a model. Rejects if none may be asked. */
  createMessage(params: CreateMessageRequest['params'], signal: AbortSignal): Promise<CreateMessageResult>
}

/** Nobody is there. */
export const noQuestions: CallQuestions = {
  elicit: async () => ({ action: 'cancel' }),
  createMessage: async () => {
    throw new Error('Sampling is not available.')
  },
}

/** The questions of one call. */
export const questionsOf = (_context: ToolContext): CallQuestions => noQuestions
