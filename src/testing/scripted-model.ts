// 1. Each call of `stream` takes one step, in order.
// 2. Requests are kept as frozen copies.
// 3. A request beyond the script, or one that `check` rejects, is answered with an `error` part of class `config`, and `assertDone`
//    throws.
import {
  type AttemptContext,
  type FinishReason,
  type Model,
  type ModelAbility,
  type ModelFailure,
  type ModelPart,
  type ModelRequest,
  noUsage,
  type Problem,
  TroupeError,
  type Usage,
} from '../contracts/index.ts'

export interface ScriptedCall {
  readonly tool: string
  /** An object, or JSON text, valid or not. */
  readonly input?: object | string
  /** Default `call_1`, `call_2`, … over the life of the model. */
  readonly id?: string
}

/**
 * How a reply fails. A failure is sent as an `error` part instead of `finish`. `cut` ends the stream after half of its parts. `silence`
 * sends the parts and then waits for the abort. `throw` sends the parts and then throws.
 */
export type ScriptedFault = ModelFailure | 'cut' | 'silence' | 'throw'

export interface ScriptedStep {
  readonly text?: string
  readonly reasoning?: string
  readonly calls?: readonly ScriptedCall[]
  /** Default: `tool-calls` where there are calls, else `stop`. */
  readonly finish?: FinishReason
  /** Missing fields are 0. Default: the model reports no usage. */
  readonly usage?: Partial<Usage>
  readonly costUsd?: number
  readonly fault?: ScriptedFault
  /** Into how many pieces the text is split, or the pieces themselves. Default 1. */
  readonly chunks?: number | readonly string[]
  /** Nothing is sent before this resolves; see `gate`. */
  readonly wait?: Promise<unknown>
  /** Throws if the request is not as expected. */
  check?(request: ModelRequest): void
}

export type ScriptedStepSource = ScriptedStep | ((request: ModelRequest, index: number) => ScriptedStep)

export interface ScriptedModelOptions {
  /** Default `scripted/model`. */
  readonly id?: string
  /** Default `['tools']`. */
  readonly abilities?: readonly ModelAbility[]
}

/**
 * A model that answers with scripted replies, in order.
 *
 * @example
 * const model = new ScriptedModel([{ calls: [{ tool: 'add', input: { a: 1 } }] }, { text: 'Done.' }])
 * await createAgentRuntime({ config, adapter: model }).run('Go')
 * model.assertDone()
 */
export class ScriptedModel implements Model {
  readonly id: string
  readonly abilities: readonly ModelAbility[]
  readonly #steps: readonly ScriptedStepSource[]
  readonly #requests: ModelRequest[] = []
  readonly #mismatches: Problem[] = []
  #calls = 0

  constructor(steps: readonly ScriptedStepSource[], options: ScriptedModelOptions = {}) {
    this.#steps = [...steps]
    this.id = options.id ?? 'scripted/model'
    this.abilities = options.abilities ?? ['tools']
  }

  /** All requests, oldest first. */
  get requests(): readonly ModelRequest[] {
    return this.#requests
  }

  stream(request: ModelRequest, call: AttemptContext): AsyncIterable<ModelPart> {
    const asked = deepFreeze(structuredClone(request))
    const index = this.#requests.push(asked) - 1
    const source = this.#steps[index]
    if (source === undefined)
      return only(this.#mismatch(index, `the script has ${count(this.#steps.length, 'step')}, this is request ${index + 1}`))
    try {
      const step = typeof source === 'function' ? source(asked, index) : source
      step.check?.(asked)
      return play(step, this.#partsOf(step), call.signal)
    } catch (error) {
      return only(this.#mismatch(index, error instanceof Error ? error.message : String(error)))
    }
  }

  /** Throws `script_mismatch` unless every step was used and no request was unexpected. */
  assertDone(): void {
    const left = this.#steps.slice(this.#requests.length).map((step, i) => ({
      place: `steps[${this.#requests.length + i}]`,
      message: `never asked for: ${outline(step)}`,
    }))
    assertNoMismatch(this.id, [...this.#mismatches, ...left])
  }

  #mismatch(index: number, message: string): ModelPart {
    this.#mismatches.push({ place: `requests[${index}]`, message })
    return { type: 'error', failure: { class: 'config', message: `${this.id}: ${message}` } }
  }

  #partsOf(step: ScriptedStep): readonly ModelPart[] {
    const parts: ModelPart[] = []
    if (step.reasoning !== undefined) parts.push({ type: 'reasoning', text: step.reasoning })
    for (const text of pieces(step)) parts.push({ type: 'text', text })
    for (const { tool, input = {}, id } of step.calls ?? []) {
      this.#calls += 1
      parts.push({
        type: 'call',
        id: id ?? `call_${this.#calls}`,
        name: tool,
        input: typeof input === 'string' ? input : JSON.stringify(input),
      })
    }
    return parts
  }
}

async function* play(step: ScriptedStep, parts: readonly ModelPart[], signal: AbortSignal): AsyncGenerator<ModelPart> {
  if (step.wait) await Promise.race([step.wait, aborted(signal)])
  for (const part of step.fault === 'cut' ? parts.slice(0, parts.length / 2) : parts) {
    if (signal.aborted) return
    yield part
  }
  if (signal.aborted || step.fault === 'cut') return
  if (step.fault === undefined) yield finishOf(step)
  else if (step.fault === 'throw') throw new Error('thrown by the script')
  else if (step.fault === 'silence') await aborted(signal)
  else yield { type: 'error', failure: step.fault }
}

async function* only(part: ModelPart): AsyncGenerator<ModelPart> {
  yield part
}

function finishOf({ finish, calls = [], usage, costUsd }: ScriptedStep): ModelPart {
  return {
    type: 'finish',
    reason: finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
    ...(usage && { usage: { ...noUsage, ...usage } }),
    ...(costUsd !== undefined && { costUsd }),
  }
}

function pieces({ text, chunks = 1 }: ScriptedStep): readonly string[] {
  if (typeof chunks !== 'number') return chunks
  if (text === undefined) return []
  const size = Math.max(1, Math.ceil(text.length / chunks))
  const found: string[] = []
  for (let start = 0; start < text.length; start += size) found.push(text.slice(start, start + size))
  return found.length > 0 ? found : ['']
}

function outline(step: ScriptedStepSource): string {
  if (typeof step === 'function') return 'a function'
  const { text, calls = [], fault } = step
  const said = [...(text === undefined ? [] : [JSON.stringify(text)]), ...calls.map(({ tool }) => `call of ${tool}`)]
  if (fault !== undefined) said.push(typeof fault === 'string' ? fault : fault.class)
  return said.join(', ') || 'an empty reply'
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}

export const count = (n: number, noun: string, plural = `${noun}s`): string => `${n} ${n === 1 ? noun : plural}`

/** @throws TroupeError `script_mismatch` with all problems. */
export function assertNoMismatch(owner: string, problems: readonly Problem[]): void {
  if (problems.length === 0) return
  const list = problems.map(({ place, message }) => `${place}: ${message}`).join('\n')
  throw new TroupeError('script_mismatch', `The requests do not match the script of ${owner}:\n${list}`, { problems })
}
