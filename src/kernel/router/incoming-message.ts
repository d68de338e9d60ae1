import { type ApprovalDecision, type IncomingMessage, type RequestAnswer, TroupeError } from '../../contracts/index.ts'
import { oneLine } from '../../util/one-line.ts'
import { cutText, wellFormed } from '../../util/well-formed.ts'
import { incomingShape } from '../shared/incoming-shape.ts'
import { record, ShapeError } from '../shared/value-shapes.ts'
import { parseCommand } from './commands.ts'
import type { WaitingMessage, Writer } from './conversation.ts'

const mostNameChars = 100

export type ReadMessage = Omit<WaitingMessage, 'id'> & { readonly from: Writer }

/** A message of a channel as it is stored. `undefined`: it says nothing. @throws TroupeError `usage` if a field is wrong. */
export function readMessage(message: IncomingMessage): ReadMessage | undefined {
  if (typeof message.text !== 'string') throw new TroupeError('usage', 'The `text` of a message is not a string.')
  const { userName = '', personId = message.userId, mayApprove, agent, answer, files = [] } = readFields(message)
  const name = cutText(oneLine(userName), mostNameChars)
  const from = { id: personId, ...(name !== '' && { name }), ...(mayApprove === false && { mayApprove }) }
  if (answer) return { text: '', from, answer: { approvalId: answer.requestId, decision: decisionOf(answer) } }
  if (message.text.trim() === '' && files.length === 0) return undefined
  return { text: wellFormed(message.text), from, ...(agent !== undefined && { agent }), ...(files.length > 0 && { files }) }
}

/** Answers and `/stop` are accepted at any rate. */
export const isUrgent = ({ answer, text }: ReadMessage): boolean => answer !== undefined || parseCommand(text)?.name === 'stop'

/** Whether it answers a request, if one was asked: commands and files do not. */
export const mayAnswer = ({ files, text }: ReadMessage): boolean => files === undefined && parseCommand(text) === undefined

function readFields(message: IncomingMessage) {
  try {
    return record(incomingShape)(message, 'message')
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    throw new TroupeError('usage', `A message is wrong: ${error.message}.`, { remedy: 'See `IncomingMessage` of troupe/extension.' })
  }
}

function decisionOf(answer: RequestAnswer): ApprovalDecision {
  switch (answer.kind) {
    case 'allow':
      return { kind: 'approve', breadth: answer.breadth }
    case 'deny':
      return { kind: 'deny', ...(answer.reason && { feedback: answer.reason }) }
    case 'answer':
      return { kind: 'answer', text: answer.text, ...(answer.content && { content: answer.content }) }
    default:
      return answer satisfies never
  }
}
