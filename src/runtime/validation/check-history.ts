import type { CallResult, Message, Problem } from '../../contracts/index.ts'
import { CallPairs } from '../../policy/call-pairs.ts'
import { isPlainRecord } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import { parseWellFormed } from '../../util/well-formed.ts'
import { isPart } from './check-arguments.ts'

// Checks the earlier messages of a client.

const maxHistoryMessages = 10_000
const maxHistoryCharacters = 16 * 1024 ** 2

type Fields = { readonly [field: string]: unknown }

/** The problems, each with the index of its message. Checks the pairs of calls and results only if every message is readable. */
export function historyProblems(history: unknown): readonly Problem[] {
  if (history === undefined) return []
  if (!Array.isArray(history))
    return [{ place, message: `expected a list of messages, found ${showValue(history)}`, remedy: 'Pass an empty list if there are none.' }]
  if (history.length > maxHistoryMessages) {
    const message = `has ${history.length} messages; at most ${maxHistoryMessages} are possible`
    return [{ place, message, remedy: 'Leave out the oldest ones.' }]
  }
  const wrong = history.flatMap((message: unknown, index) => messageProblem(message, `${place}[${index}]`) ?? [])
  if (wrong.length > 0) return wrong.slice(0, maxProblems)
  const messages = history as readonly Message[]
  const characters = messages.reduce((sum, message) => sum + textLength(message), 0)
  if (characters > maxHistoryCharacters) {
    const message = `has ${characters} characters of text; at most ${maxHistoryCharacters} are possible`
    return [{ place, message, remedy: 'Leave out the oldest messages.' }]
  }
  return pairProblems(messages)
}

function textLength(message: Message): number {
  if (message.role === 'tool') return message.results.reduce((sum, { content }) => sum + content.length, 0)
  return message.parts.reduce(
    (sum, part) => sum + (part.type === 'call' ? part.input : part.type === 'text' || part.type === 'reasoning' ? part.text : '').length,
    0,
  )
}

const place = 'options.history'
const maxProblems = 10

function messageProblem(given: unknown, at: string): Problem | undefined {
  const { role, parts, results } = (given ?? {}) as Fields
  switch (role) {
    case 'user':
      return areAll(parts, isPart)
        ? undefined
        : { place: `${at}.parts`, message: 'expected a list of text, image and file parts', remedy: 'A part of type text has a text.' }
    case 'assistant':
      return areAll(parts, isReplyPart)
        ? undefined
        : {
            place: `${at}.parts`,
            message: 'expected a list of text, reasoning and call parts',
            remedy: 'A call has an id, a name and input as text.',
          }
    case 'tool':
      return areAll(results, isResult)
        ? undefined
        : {
            place: `${at}.results`,
            message: 'expected a list of results',
            remedy: 'Pass { id, name, ok, content } for each, and base64 in data for bytes.',
          }
    default:
      return {
        place: `${at}.role`,
        message: `expected user, assistant or tool, found ${showValue(role)}`,
        remedy: role === 'system' || role === 'developer' ? 'Pass its text as options.instructions.' : 'Pass one of these roles.',
      }
  }
}

const areAll = (list: unknown, accepts: (each: unknown) => boolean): boolean =>
  Array.isArray(list) && list.length > 0 && list.every(accepts)
const isText = (value: unknown): value is string => typeof value === 'string'
const isName = (value: unknown): value is string => isText(value) && value !== ''
const isMetadata = (value: unknown): boolean => value === undefined || isPlainRecord(value)

function isReplyPart(part: unknown): boolean {
  const { type, text, id, name, input, metadata } = (part ?? {}) as Fields
  if (!isMetadata(metadata)) return false
  return type === 'call' ? isName(id) && isName(name) && isText(input) : (type === 'text' || type === 'reasoning') && isText(text)
}

function isResult(result: unknown): boolean {
  const { id, name, ok, content, parts } = (result ?? {}) as { readonly [Key in keyof CallResult]?: unknown }
  return isName(id) && isName(name) && typeof ok === 'boolean' && isText(content) && (parts === undefined || areAll(parts, isResultPart))
}

function isResultPart(part: unknown): boolean {
  const { type, text, uri, mediaType, data } = (part ?? {}) as Fields
  if (type === 'text') return isText(text)
  if (type === 'link') return isText(uri)
  return (type === 'image' || type === 'audio' || type === 'file') && isName(mediaType) && isName(data) && !/^blob:/i.test(data)
}

function pairProblems(history: readonly Message[]): readonly Problem[] {
  const problems: Problem[] = []
  const pairs = new CallPairs((problem) => problems.push(problem))
  history.forEach((message, index) => {
    const at = `${place}[${index}]`
    if (message.role === 'tool') {
      for (const { id } of message.results) pairs.result(id, at)
      return
    }
    pairs.close()
    if (message.role === 'assistant') for (const part of message.parts) if (part.type === 'call') pairs.call(part, at)
  })
  pairs.close()
  return problems.slice(0, maxProblems)
}

/** A plain copy of the known fields, with well-formed texts. Results of one reply become one message. */
export function readHistory(history: readonly Message[]): readonly Message[] {
  const read: Message[] = []
  for (const message of parseWellFormed(JSON.stringify(history)) as unknown as readonly Message[]) {
    const last = read.at(-1)
    const copy = knownFields(message)
    if (copy.role === 'tool' && last?.role === 'tool') read[read.length - 1] = { role: 'tool', results: [...last.results, ...copy.results] }
    else read.push(copy)
  }
  return read
}

function knownFields(message: Message): Message {
  switch (message.role) {
    case 'user':
      return { role: 'user', parts: message.parts.map((part) => only(part, ['type', 'text', 'mediaType', 'data', 'name', 'metadata'])) }
    case 'assistant':
      return { role: 'assistant', parts: message.parts.map((part) => only(part, ['type', 'text', 'id', 'name', 'input', 'metadata'])) }
    case 'tool':
      return { role: 'tool', results: message.results.map(resultFields) }
    default:
      return message satisfies never
  }
}

function resultFields(result: CallResult): CallResult {
  const { parts } = result
  const read = parts?.map((part) => only(part, ['type', 'text', 'uri', 'mediaType', 'data', 'name']))
  return { ...only(result, ['id', 'name', 'ok', 'content']), ...(read && { parts: read }) }
}

/** The allowlist holds the keys of every kind of `value`. */
const only = <T extends object>(value: T, keys: readonly string[]): T =>
  Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key))) as T
