import { type EventsOptions, type InputMode, type Problem, type StepSettings, TroupeError } from '../../contracts/index.ts'
import { isDecision } from '../../policy/grants.ts'
import { isRecord } from '../../util/is-record.ts'
import { messageOf } from '../../util/message-of.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import {
  aBoolean,
  checkField,
  checkKeys,
  checkOnlyFields,
  type FieldType,
  oneOf,
  optional,
  stringList,
  usageError,
} from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import type { RunInput } from '../options/agent-runtime.ts'
import { changeProblems } from './check-changes.ts'
import { outputProblems } from './check-output-contract.ts'
import { checkPrincipal } from './check-principal.ts'
import { readableCopy } from './readable-copy.ts'

// Checks the arguments of calls of a runtime before anything is written. Each throws a TroupeError `usage` with every problem.

export const inputModes: readonly string[] = ['queue', 'steer'] satisfies InputMode[]
export const cancelModes: readonly string[] = ['stop', 'interrupt']
const runKeys = ['agent', 'signal', 'overlay', 'output', 'definitions', 'principal']

/** Every run comes by here: valid options cost one look at each key. */
export function checkRun(input: RunInput, options: object, modelKeys: object): void {
  const known = runKeys
  const problems: Problem[] = []
  try {
    if (areOptions(problems, options)) {
      for (const key in options) {
        const value = options[key]
        if (!known.includes(key)) checkKeys(problems, { [key]: value }, { known, place: 'options' })
        else if (key === 'overlay') checkOverlay(problems, value, modelKeys)
        else if (key === 'definitions') checkDefinitions(problems, value)
        else if (key === 'principal') checkPrincipal(problems, value)
        else if (value !== undefined && key !== 'output')
          checkField(problems, value, { type: key === 'agent' ? agentName : signal, place: `options.${key}` })
      }
    }
    checkInput(input, problems)
  } catch (error) {
    throw unreadable(error, { input, options })
  }
}

export const nonEmpty = (expected: string): FieldType => ({
  expected,
  remedy: 'Pass a non-empty string.',
  accepts: (value) => typeof value === 'string' && value !== '',
})
export const agentName = nonEmpty('the name of an agent')
const signal: FieldType = {
  expected: 'an AbortSignal',
  remedy: 'Pass the signal of an AbortController.',
  accepts: (value) => isRecord(value) && typeof value.addEventListener === 'function',
}
const actor: FieldType = { expected: 'a name', remedy: 'The journal records who did it.', accepts: (value) => typeof value === 'string' }

export function checkOpen(options: object, modelKeys: object): void {
  check({ options }, (problems) => {
    if (!areOptions(problems, options)) return
    checkKeys(problems, options, { known: ['models', 'limits', 'parameters', 'overlay', 'definitions'], place: 'options' })
    problems.push(...changeProblems(options))
    checkOverlay(problems, options.overlay, modelKeys)
    checkDefinitions(problems, options.definitions)
  })
}

const checkDefinitions = (problems: Problem[], value: unknown): unknown =>
  checkField(problems, value, { type: optional(oneOf(['latest', 'pin'])), place: 'options.definitions' })

export function checkClose(options: object): void {
  check({ options }, (problems) => {
    if (!areOptions(problems, options)) return
    checkKeys(problems, options, { known: ['drain'], place: 'options' })
    checkField(problems, options.drain, { type: optional(aBoolean), place: 'options.drain' })
  })
}

export function checkSend(input: RunInput, options: object): void {
  check({ input, options }, (problems) => {
    if (areOptions(problems, options)) {
      checkKeys(problems, options, { known: ['mode', 'clientId', 'to', 'traceContext', 'endsHandoff', ...settingKeys], place: 'options' })
      problems.push(...changeProblems(options), ...outputProblems(options.output ?? undefined))
      checkField(problems, options.instructions, { type: optional(text), place: 'options.instructions' })
      if (options.to !== undefined && settingKeys.some((key) => options[key] !== undefined)) problems.push(settingsOfChild)
      if (options.mode !== undefined) checkWord(problems, options.mode, { place: 'options.mode', known: inputModes })
      checkField(problems, options.traceContext, { type: optional(traceContext), place: 'options.traceContext' })
      checkField(problems, options.clientId, { type: optional(nonEmpty('an id')), place: 'options.clientId' })
      checkField(problems, options.to, { type: optional(nonEmpty('a session id or an agent path')), place: 'options.to' })
    }
    checkInput(input, problems)
  })
}

export const traceContext: FieldType = {
  expected: 'headers of W3C Trace Context',
  remedy: 'Pass { traceparent, tracestate? }.',
  accepts: (value) => isRecord(value) && [value.traceparent, value.tracestate ?? ''].every(isShortText),
}
const isShortText = (value: unknown): boolean => typeof value === 'string' && value.length <= 512
const text: FieldType = { expected: 'a text', remedy: 'Pass a string.', accepts: (value) => typeof value === 'string' }
const settingKeys = ['models', 'limits', 'parameters', 'instructions', 'output', 'clientTools', 'toolChoice']
const settingsOfChild: Problem = {
  place: 'options.to',
  message: 'only the root of a session takes settings',
  remedy: 'Leave out `to`, or the settings.',
}

export function checkCancel(mode: unknown, by: unknown): void {
  check({ mode, by }, (problems) => {
    checkWord(problems, mode, { place: 'mode', known: cancelModes })
    checkField(problems, by, { type: actor, place: 'by' })
  })
}

export function checkSendHeld(by: unknown): void {
  check({ by }, (problems) => checkField(problems, by, { type: actor, place: 'by' }))
}

export function checkAnswer(answer: unknown): void {
  check({ answer }, (problems) => {
    if (!isRecord(answer)) {
      const remedy = 'Pass { approvalId, decision, by? }.'
      problems.push({ place: 'answer', message: `expected an object, found ${showValue(answer)}`, remedy })
      return
    }
    checkKeys(problems, answer, { known: ['approvalId', 'decision', 'by', 'message', 'settings'], place: 'answer' })
    checkField(problems, answer.approvalId, { type: nonEmpty('the id of a request'), place: 'answer.approvalId' })
    checkField(problems, answer.decision, { type: decision, place: 'answer.decision' })
    checkField(problems, answer.by, { type: optional(actor), place: 'answer.by' })
    checkField(problems, answer.message, { type: optional(addedMessage), place: 'answer.message' })
    const { settings = {} } = answer as { readonly settings?: object }
    if (!areOptions(problems, settings, 'answer.settings')) return
    checkKeys(problems, settings, { known: ['clientTools', 'toolChoice', 'instructions'], place: 'answer.settings' })
    checkField(problems, (settings as StepSettings).instructions, { type: optional(text), place: 'answer.settings.instructions' })
    problems.push(...changeProblems(settings, 'answer.settings'))
  })
}

const addedMessage: FieldType = {
  expected: 'a message with parts and an id',
  remedy: 'Pass { input: [{ type: "text", text }], clientId }.',
  accepts: (value) => isRecord(value) && typeof value.clientId === 'string' && Array.isArray(value.input) && value.input.every(isPart),
}

const decision: FieldType = {
  expected: 'a decision',
  remedy:
    'Pass { kind: "approve", breadth: "once" | "session" | "project", key? }, { kind: "answer", text, content? }, { kind: "result", ok, content, parts? }, { kind: "deny", feedback?, cancel? } or { kind: "abort" }.',
  accepts: isDecision,
}

export function checkRevoke(keys: unknown, by: unknown): void {
  check({ keys, by }, (problems) => {
    checkField(problems, keys, { type: { ...stringList('a list of keys'), remedy: 'Pass the keys of grants.' }, place: 'keys' })
    checkField(problems, by, { type: actor, place: 'by' })
  })
}

const eventsFields = {
  after: optional({ expected: 'the seq of an event', accepts: isSeq }),
  until: optional(oneOf(['turn', 'idle', 'closed'])),
  live: optional(aBoolean),
} satisfies { readonly [Key in keyof Required<EventsOptions>]: FieldType }

export function checkEvents(options: EventsOptions | number): void {
  check({ options }, (problems) => {
    if (typeof options === 'number') checkField(problems, options, { type: eventsFields.after, place: 'options' })
    else if (areOptions(problems, options)) checkOnlyFields(problems, options, { fields: eventsFields, place: 'options' })
  })
}

function isSeq(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}

export function check(given: { readonly [name: string]: unknown }, find: (problems: Problem[]) => void): void {
  const problems: Problem[] = []
  try {
    find(problems)
  } catch (error) {
    throw unreadable(error, given)
  }
  if (problems.length > 0) throw usageError(problems)
}

/** Getters and proxies may throw: the error names what cannot be read. */
function unreadable(error: unknown, given: { readonly [name: string]: unknown }): unknown {
  if (error instanceof TroupeError) return error
  const { problems } = readableCopy(given)
  if (problems.length > 0) return usageError(problems)
  return usageError([{ place: Object.keys(given).join(', '), message: `cannot be read: ${messageOf(error)}` }])
}

/** The messages show no value: it may be a secret. */
export function checkOverlay(problems: Problem[], overlay: unknown, modelKeys: object): void {
  const place = 'options.overlay'
  if (overlay === undefined) return
  if (!isRecord(overlay)) {
    problems.push({ place, message: 'expected an object', remedy: 'Pass variables by name, such as { CITY: "Oslo" }.' })
    return
  }
  for (const [name, value] of Object.entries(overlay)) {
    if (typeof value !== 'string')
      problems.push({
        place: `${place}.${name}`,
        message: `expected a string, found ${value === null ? 'null' : `a ${typeof value}`}`,
        remedy: 'Pass a string.',
      })
    else if (Object.hasOwn(modelKeys, name) && Reflect.get(modelKeys, name) !== value)
      problems.push({
        place: `${place}.${name}`,
        message: 'the models of this runtime use another value, which a call cannot change',
        remedy: 'Create a runtime with its own adapter. If the variable is for tools, give it another name.',
      })
  }
}

/** Throws if there are other `problems`, or the input is empty or malformed. */
export function checkInput(input: RunInput, problems: readonly Problem[] = []): void {
  const wrong = inputProblem(input)
  if (problems.length > 0) throw usageError(wrong ? [{ ...wrong, place: 'input' }, ...problems] : problems)
  if (wrong) throw new TroupeError('usage', `The input is ${wrong.message}.`, { remedy: wrong.remedy })
}

function inputProblem(input: RunInput): { readonly message: string; readonly remedy: string } | undefined {
  const isText = typeof input === 'string'
  if (isText ? input.trim() !== '' : Array.isArray(input) && input.length > 0 && input.every(isPart)) return undefined
  return {
    message: isText ? 'empty' : `neither a string nor a list of parts: ${showValue(input)}`,
    remedy: 'Pass a string, or parts of type text, image or file.',
  }
}

export const isPart = (part: unknown): boolean => {
  const { type, text, data, mediaType } = (part ?? {}) as { [key: string]: unknown }
  if (type === 'text') return typeof text === 'string'
  return (type === 'image' || type === 'file') && typeof data === 'string' && !/^blob:/i.test(data) && typeof mediaType === 'string'
}

export function areOptions(problems: Problem[], options: object, place = 'options'): options is Record<string, unknown> {
  if (isRecord(options)) return true
  problems.push({
    place,
    message: `expected an object, found ${showValue(options)}`,
    remedy: 'Omit the options if you have none.',
  })
  return false
}

function checkWord(problems: Problem[], value: unknown, { place, known }: { place: string; known: readonly string[] }): void {
  if (known.includes(value as string)) return
  const [near] = typeof value === 'string' ? nearestNames(value, known) : []
  const message = `expected ${known.map((word) => `"${word}"`).join(' or ')}, found ${showValue(value)}`
  problems.push({ place, message, remedy: near === undefined ? `Pass one of ${known.join(', ')}.` : `Did you mean "${near}"?` })
}
