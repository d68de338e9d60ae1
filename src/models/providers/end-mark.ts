import type { Endpoint } from '../provider-settings.ts'
import { fieldsOf, listOf, textOf } from '../shared/index.ts'

/** The event that ends a reply. Some servers say it and keep the connection open. */
export interface EndMark {
  /** Whether the data of an event says that the reply has ended. */
  isIn(data: string): boolean
  /** It is a mere sign: nobody has to read it, so it counts before its event is whole. */
  readonly isSign: boolean
  /** Nothing behind it belongs to the reply; otherwise more may follow, if it comes soon. */
  readonly isFinal: boolean
  /** How long the server is given to end its answer, in milliseconds. */
  readonly patienceMs: number
}

const done: EndMark = { isIn: (data) => data === '[DONE]', isSign: true, isFinal: true, patienceMs: 250 }

const lastResponse: EndMark = {
  isIn: (data) => /"response\.(?:completed|incomplete|failed)"/.test(data) && lastTypes.has(textOf(parsed(data).type) ?? ''),
  isSign: false,
  isFinal: true,
  patienceMs: 250,
}
const lastTypes = new Set(['response.completed', 'response.incomplete', 'response.failed'])

// Some models of Gemini have given a reason to finish with each of their events.
const finishReason: EndMark = {
  isIn: (data) => data.includes('"finishReason"') && textOf(fieldsOf(listOf(parsed(data).candidates)[0]).finishReason) !== undefined,
  isSign: false,
  isFinal: false,
  patienceMs: 1000,
}

/** Anthropic's package ends the reply by itself. */
export function endMarkOf({ kind, settings }: Pick<Endpoint, 'kind' | 'settings'>): EndMark | undefined {
  switch (kind) {
    case 'openai':
      return settings.api === 'chat' ? done : lastResponse
    case 'openai-compatible':
      return done
    case 'google':
      return finishReason
    case 'anthropic':
      return undefined
    default:
      return kind satisfies never
  }
}

function parsed(data: string) {
  try {
    return fieldsOf(JSON.parse(data))
  } catch {
    return {}
  }
}

/** Looks for the end mark in the bytes of a stream of events, wherever the network has cut them. */
export class EndWatch {
  readonly #mark: EndMark
  #line = ''
  #data: string[] = []

  constructor(mark: EndMark) {
    this.#mark = mark
  }

  /** How many bytes of the chunk belong to the reply that ends in it; `undefined` where it does not end. */
  read(chunk: Uint8Array): number | undefined {
    // As bytes: all that the marks are made of is ASCII, and a character that is cut in two does no harm.
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
    let from = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      const line = (this.#line + text.slice(from, at)).replace(/\r$/, '')
      this.#line = ''
      from = at + 1
      if (this.#take(line)) return from
    }
    this.#line += text.slice(from)
    // What waits for its line break may be all that ever comes.
    return this.#isSign(dataIn(this.#line)) ? chunk.length : undefined
  }

  #take(line: string): boolean {
    const data = dataIn(line)
    if (data !== undefined) {
      this.#data.push(data)
      return this.#isSign(data)
    }
    if (line !== '') return false
    const whole = this.#data.join('\n')
    this.#data = []
    return whole !== '' && this.#mark.isIn(whole)
  }

  readonly #isSign = (data: string | undefined): boolean => data !== undefined && this.#mark.isSign && this.#mark.isIn(data)
}

const dataIn = (line: string): string | undefined => (line.startsWith('data:') ? line.slice('data:'.length).trim() : undefined)
