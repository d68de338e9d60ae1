// How a step is chosen. The history decides: a request after n replies gets reply n + 1. Faults leave no reply, so the faults
// before a reply are counted here, by session, until the reply was sent completely.
//
// 1. After a resume in another process the script continues; an interrupted fault is played again.
// 2. Sessions are independent. Requests outside of a session are told apart by their first message.
import type { AttemptContext, Clock, Message, Model, ModelFailure, ModelPart, ModelRequest } from '../contracts/index.ts'
import { shortHash } from '../util/hash.ts'
import type { Script, ScriptFault, ScriptStep } from './parse-script.ts'
import { costAt } from './token-price.ts'

export interface ScriptModelOptions {
  /** `script/<file>`, for accounting. */
  readonly id: string
  readonly clock: Clock
  /** `false`: texts arrive immediately, also if the script has a `pace`. Default: `true`. */
  readonly pacesScripts?: boolean
}

/** A reply with the faults before it. The last slot has no reply if the script ends with faults. */
interface Slot {
  readonly faults: readonly ScriptStep[]
  readonly reply?: ScriptStep
}

/**
 * A model that plays the steps of a YAML file, for demonstrations and tests. `place` names the text in problems. Throws
 * `script_invalid` with all problems.
 */
export async function scriptModel(text: string, place: string, options: ScriptModelOptions): Promise<Model> {
  const { parseScript } = await import('./parse-script.ts')
  const { steps, pace, price } = parseScript(text, place)
  const slots = slotsOf(steps)
  const played = new Map<string, number>()

  function stream(request: ModelRequest, call: AttemptContext): AsyncIterable<ModelPart> {
    const position = request.messages.filter(({ role }) => role === 'assistant').length
    const slot = slots[position]
    const key = `${call.sessionId ?? openingKey(request)} ${position}`
    const faults = played.get(key) ?? 0
    const fault = slot?.faults[faults]
    if (fault) played.set(key, faults + 1)
    const step = fault ?? slot?.reply
    if (!step) return noReplyLeft(options.id, slots)
    const { clock, pacesScripts = true } = options
    const done = (): void => void played.delete(key)
    return play(step, { position, clock, signal: call.signal, done, price, pace: pacesScripts ? pace : undefined })
  }
  return { id: options.id, abilities: ['tools', 'reasoning'], costOf: (usage) => (price ? costAt(price, usage) : 0), stream }
}

interface Playing {
  readonly position: number
  readonly pace: Script['pace']
  readonly price: Script['price']
  readonly clock: Clock
  readonly signal: AbortSignal
  /** The reply was sent completely. */
  done(): void
}

async function* play(step: ScriptStep, { position, pace, price, clock, signal, done }: Playing): AsyncGenerator<ModelPart> {
  if (step.delayMs > 0) await pause(step.delayMs, clock, signal)
  const started = clock.monotonic()
  let characters = 0
  for (const part of partsOf(step, position)) {
    if (pace !== undefined && 'text' in part) {
      characters += part.text.length
      // Measured from the start: what a timer is late does not add up.
      const ms = started + (characters / charsPerToken / pace) * 1000 - clock.monotonic()
      if (ms >= 1) await pause(ms, clock, signal)
    }
    if (signal.aborted) return
    yield part
  }
  if (signal.aborted || step.fault === 'cut') return
  if (step.fault === 'silence') return aborted(signal)
  if (step.fault !== undefined) return yield { type: 'error', failure: scriptedFailure(step.fault) }
  done()
  const reason = step.calls.length > 0 ? 'tool-calls' : 'stop'
  // Without usage the loop estimates it, and applies the price to the estimate.
  yield { type: 'finish', reason, ...(step.usage && { usage: step.usage }), ...(!price && { costUsd: 0 }) }
}

/** An estimate, as the loop makes it. */
const charsPerToken = 4

async function* noReplyLeft(id: string, slots: readonly Slot[]): AsyncGenerator<ModelPart> {
  const replies = slots.filter(({ reply }) => reply !== undefined).length
  const message = `${id} has no reply left: its ${replies === 1 ? 'only reply was' : `${replies} replies were`} sent.`
  yield { type: 'error', failure: { class: 'config', message, remedy: 'Add a step to the script.' } }
}

function* partsOf(step: ScriptStep, position: number): Generator<ModelPart> {
  for (const text of words(step.reasoning)) yield { type: 'reasoning', text }
  for (const text of words(step.text)) yield { type: 'text', text }
  for (const [i, { tool, input }] of step.calls.entries()) yield { type: 'call', id: `call_${position + 1}_${i + 1}`, name: tool, input }
}

function slotsOf(steps: readonly ScriptStep[]): readonly Slot[] {
  const slots: Slot[] = []
  let faults: ScriptStep[] = []
  for (const step of steps) {
    if (step.fault !== undefined) faults.push(step)
    else {
      slots.push({ faults, reply: step })
      faults = []
    }
  }
  return faults.length > 0 ? [...slots, { faults }] : slots
}

function openingKey({ system, messages }: ModelRequest): string {
  const opening: Message | undefined = messages[0]
  return shortHash(JSON.stringify([system, opening]))
}

/** Words; long ones in pieces. */
function words(text = ''): readonly string[] {
  return text.match(/\s*\S{1,40}(?:\s+$)?/gu) ?? (text === '' ? [] : [text])
}

const faultTexts: { readonly [F in Exclude<ScriptFault, 'cut' | 'silence'>]: string } = {
  rate_limit: 'too many requests',
  auth: 'the key is refused',
  quota: 'the quota is used up',
  network: 'the connection broke',
  timeout: 'the provider did not answer in time',
  invalid_response: 'the answer cannot be read',
  model: 'the provider failed',
}

function scriptedFailure(fault: Exclude<ScriptFault, 'cut' | 'silence'>): ModelFailure {
  return { class: fault, message: `${faultTexts[fault]} (scripted)` }
}

function pause(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = (): void => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.after(ms, end)
    signal.addEventListener('abort', end, { once: true })
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
