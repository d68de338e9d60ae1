import { type InputMode, type Problem, TroupeError } from '../../contracts/index.ts'
import { isDecision } from '../../policy/grants.ts'
import { messageOf } from '../../util/message-of.ts'
import { nearestNames } from '../../util/nearest-names.ts'
import { checkKeys, isRecord, usageError } from '../../util/option-problems.ts'
import { showValue } from '../../util/show-value.ts'
import type { RunInput } from '../api/agent-runtime.ts'
import { changeProblems } from '../resume/reconfigure-session.ts'
import { readableCopy } from './readable-copy.ts'

// What a program says to a runtime that is there, held against what can be said: all problems at once, and before anything is
// written. Everything throws a TroupeError `usage`. A call that is right pays for a look at its keys, and most have none.

export const inputModes: readonly string[] = ['queue', 'steer'] satisfies InputMode[]
export const cancelModes: readonly string[] = ['stop', 'interrupt']
const runKeys = ['agent', 'signal', 'overlay']
const startKeys = ['agent', 'overlay']

export function checkRun(
  input: RunInput,
  options: object,
  { caller, modelKeys }: { readonly caller: 'run' | 'start'; readonly modelKeys: object },
): void {
  const known = caller === 'run' ? runKeys : startKeys
  const problems: Problem[] = []
  try {
    if (areOptions(problems, options)) {
      for (const key in options) {
        const value = options[key]
        if (!known.includes(key)) checkKeys(problems, { [key]: value }, { known, place: 'options' })
        else if (key === 'overlay') checkOverlay(problems, value, modelKeys)
        else if (value !== undefined) checkRunOption(problems, key, value)
      }
    }
    refuse(problems, input)
  } catch (error) {
    throw unreadable(error, { input, options })
  }
}

/** Getters and proxies may throw: the error names what cannot be read. */
function unreadable(error: unknown, given: { readonly [name: string]: unknown }): unknown {
  if (error instanceof TroupeError) return error
  const { problems } = readableCopy(given)
  if (problems.length > 0) return usageError(problems)
  return usageError([{ place: Object.keys(given).join(', '), message: `it cannot be read: ${messageOf(error)}` }])
}

/** The same for calls that need not be fast. */
function readably(given: { readonly [name: string]: unknown }, check: () => void): void {
  try {
    check()
  } catch (error) {
    throw unreadable(error, given)
  }
}

function checkRunOption(problems: Problem[], key: string, value: unknown): void {
  const place = `options.${key}`
  if (key === 'agent') checkText(problems, value, { place, what: 'the name of an agent' })
  else if (!isRecord(value) || typeof value.addEventListener !== 'function')
    problems.push({
      place,
      message: `expected an AbortSignal, found ${showValue(value)}`,
      remedy: 'Give the signal of an AbortController.',
    })
}

export function checkOpen(options: object, modelKeys: object): void {
  readably({ options }, () => {
    const problems: Problem[] = []
    if (areOptions(problems, options)) {
      checkKeys(problems, options, { known: ['models', 'limits', 'parameters', 'overlay'], place: 'options' })
      problems.push(...changeProblems(options))
      checkOverlay(problems, options.overlay, modelKeys)
    }
    if (problems.length > 0) throw usageError(problems)
  })
}

export function checkClose(options: object): void {
  readably({ options }, () => {
    const problems: Problem[] = []
    if (areOptions(problems, options)) {
      checkKeys(problems, options, { known: ['drain'], place: 'options' })
      const { drain } = options
      if (drain !== undefined && typeof drain !== 'boolean')
        problems.push({
          place: 'options.drain',
          message: `expected true or false, found ${showValue(drain)}`,
          remedy: 'Leave it out, or give true.',
        })
    }
    if (problems.length > 0) throw usageError(problems)
  })
}

/** No value is shown: it may be a secret. */
function checkOverlay(problems: Problem[], overlay: unknown, modelKeys: object): void {
  const place = 'options.overlay'
  if (overlay === undefined) return
  if (!isRecord(overlay)) {
    problems.push({ place, message: 'expected an object', remedy: 'Give variables by their names, such as { CITY: "Oslo" }.' })
    return
  }
  for (const [name, value] of Object.entries(overlay)) {
    if (typeof value !== 'string')
      problems.push({
        place: `${place}.${name}`,
        message: `expected a text, found ${value === null ? 'null' : `a ${typeof value}`}`,
        remedy: 'Give a text.',
      })
    else if (Object.hasOwn(modelKeys, name) && Reflect.get(modelKeys, name) !== value)
      problems.push({
        place: `${place}.${name}`,
        message: 'the models of this runtime are asked with another value, which a call cannot change',
        remedy: 'Make a runtime with an adapter of its own; or give it another name, if it is for tools.',
      })
  }
}

export function checkSend(input: RunInput, options: object): void {
  readably({ input, options }, () => {
    const problems: Problem[] = []
    if (areOptions(problems, options)) {
      checkKeys(problems, options, { known: ['mode', 'clientId'], place: 'options' })
      const { mode, clientId } = options
      if (mode !== undefined) checkWord(problems, mode, { place: 'options.mode', known: inputModes })
      if (clientId !== undefined) checkText(problems, clientId, { place: 'options.clientId', what: 'an id' })
    }
    refuse(problems, input)
  })
}

export function checkCancel(mode: unknown, by: unknown): void {
  const problems: Problem[] = []
  checkWord(problems, mode, { place: 'mode', known: cancelModes })
  if (typeof by !== 'string') problems.push(missingActor('by', by))
  if (problems.length > 0) throw usageError(problems)
}

/** Only a decision that there is goes into the inbox. */
export function checkAnswer(answer: unknown): void {
  readably({ answer }, () => {
    const problems: Problem[] = []
    const remedy = 'Give { approvalId, decision, by? }.'
    if (!isRecord(answer)) throw usageError([{ place: 'answer', message: `expected an object, found ${showValue(answer)}`, remedy }])
    checkKeys(problems, answer, { known: ['approvalId', 'decision', 'by'], place: 'answer' })
    const { approvalId, decision, by = '' } = answer
    checkText(problems, approvalId, { place: 'answer.approvalId', what: 'the id of a request' })
    if (!isDecision(decision))
      problems.push({ place: 'answer.decision', message: `${showValue(decision)} is not a decision`, remedy: knownDecisions })
    if (typeof by !== 'string') problems.push(missingActor('answer.by', by))
    if (problems.length > 0) throw usageError(problems)
  })
}

export function checkRevoke(keys: unknown, by: unknown): void {
  readably({ keys, by }, () => {
    const problems: Problem[] = []
    if (!Array.isArray(keys) || keys.some((key: unknown) => typeof key !== 'string'))
      problems.push({ place: 'keys', message: `expected a list of keys, found ${showValue(keys)}`, remedy: 'Give the keys of grants.' })
    if (typeof by !== 'string') problems.push(missingActor('by', by))
    if (problems.length > 0) throw usageError(problems)
  })
}

export function checkList(options: object): void {
  readably({ options }, () => {
    const problems: Problem[] = []
    if (areOptions(problems, options)) checkKeys(problems, options, { known: ['limit', 'before'], place: 'options' })
    if (problems.length > 0) throw usageError(problems)
  })
}

/** A model cannot be asked nothing. */
export function checkInput(input: RunInput): void {
  const wrong = inputProblem(input)
  if (wrong) throw new TroupeError('usage', `The input is ${wrong.message}.`, { remedy: wrong.remedy })
}

function refuse(problems: readonly Problem[], input: RunInput): void {
  if (problems.length === 0) {
    checkInput(input)
    return
  }
  const wrong = inputProblem(input)
  throw usageError(wrong ? [{ ...wrong, place: 'input' }, ...problems] : problems)
}

function inputProblem(input: RunInput): { readonly message: string; readonly remedy: string } | undefined {
  const isText = typeof input === 'string'
  if (isText ? input.trim() !== '' : Array.isArray(input) && input.length > 0 && input.every(isPart)) return undefined
  return {
    message: isText ? 'empty' : `neither a text nor a list of parts: ${showValue(input)}`,
    remedy: 'Give a text, or parts of type text, image or file.',
  }
}

const isPart = (part: unknown): boolean => {
  const { type, text, data, mediaType } = (part ?? {}) as { [key: string]: unknown }
  if (type === 'text') return typeof text === 'string'
  return (type === 'image' || type === 'file') && typeof data === 'string' && typeof mediaType === 'string'
}

function areOptions(problems: Problem[], options: object): options is Record<string, unknown> {
  if (isRecord(options)) return true
  problems.push({
    place: 'options',
    message: `expected an object, found ${showValue(options)}`,
    remedy: 'Leave them out where there are none.',
  })
  return false
}

function checkText(problems: Problem[], value: unknown, { place, what }: { place: string; what: string }): void {
  if (typeof value === 'string' && value !== '') return
  problems.push({ place, message: `expected ${what}, found ${showValue(value)}`, remedy: 'Give a text.' })
}

function checkWord(problems: Problem[], value: unknown, { place, known }: { place: string; known: readonly string[] }): void {
  if (known.includes(value as string)) return
  const [near] = typeof value === 'string' ? nearestNames(value, known) : []
  const message = `expected ${known.map((word) => `"${word}"`).join(' or ')}, found ${showValue(value)}`
  problems.push({ place, message, remedy: near === undefined ? `Give one of ${known.join(', ')}.` : `Did you mean "${near}"?` })
}

const missingActor = (place: string, by: unknown): Problem => ({
  place,
  message: `expected who it is, found ${showValue(by)}`,
  remedy: 'Give a name: the journal tells of it by this.',
})

const knownDecisions =
  'Give { kind: "approve", breadth: "once" | "session" | "project", key? }, { kind: "answer", text }, { kind: "deny", feedback? } or { kind: "abort" }.'
