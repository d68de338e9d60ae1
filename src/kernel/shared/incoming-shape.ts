// What channels hand in besides texts.
import type { IncomingFile, IncomingMessage, RequestAnswer } from '../../contracts/index.ts'
import { isRecord } from '../../util/is-record.ts'
import { boolean, type Check, jsonObject, list, number, oneOf, optional, record, ShapeError, text } from './value-shapes.ts'

const line = text(500)

const id: Check<string> = (value, place) => {
  if (typeof value === 'string' && value !== '' && value.length <= 200 && value.isWellFormed()) return value
  throw new ShapeError(`${place} is not a short text that is not empty`)
}

const answers: { readonly [Kind in RequestAnswer['kind']]: Check<RequestAnswer> } = {
  allow: record({ requestId: line, kind: oneOf(['allow']), breadth: oneOf(['once', 'session', 'project']) }),
  deny: record({ requestId: line, kind: oneOf(['deny']), reason: optional(text()) }),
  answer: record({ requestId: line, kind: oneOf(['answer']), text: text(), content: optional(jsonObject) }),
}
const kinds = Object.keys(answers) as readonly RequestAnswer['kind'][]

const answer: Check<RequestAnswer> = (value, place) => {
  const kind = oneOf(kinds)(isRecord(value) ? value.kind : undefined, `${place}.kind`)
  return answers[kind](value, place)
}

const file: Check<IncomingFile> = record({ name: line, mediaType: line, bytes: optional(number), ref: text(4_000) })

/** The fields of a message that were checked by nobody else. */
export const incomingShape = {
  userName: optional(text()),
  personId: optional(id),
  mayApprove: optional(boolean),
  agent: optional(line),
  answer: optional(answer),
  files: optional(list(file)),
} satisfies { readonly [Key in keyof IncomingMessage]?: Check<unknown> }
