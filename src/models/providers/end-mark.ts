import { fieldsOf, listOf, textOf } from '../../util/unknown-fields.ts'
import type { Endpoint } from '../provider-settings.ts'

/** The event that ends a reply. Some servers send it and keep the connection open. */
export interface EndMark {
  /** Whether the data of an event says that the reply has ended. */
  isIn(data: string): boolean
  /** It has no content, so it takes effect before its event is complete. */
  readonly isSign: boolean
  /** Nothing after it belongs to the reply. Otherwise more may follow soon. */
  readonly isFinal: boolean
  /** How long to wait for the end of the response, in milliseconds. */
  readonly timeoutMs: number
}

const done: EndMark = { isIn: (data) => data === '[DONE]', isSign: true, isFinal: true, timeoutMs: 250 }

const lastResponse: EndMark = {
  isIn: (data) => /"response\.(?:completed|incomplete|failed)"/.test(data) && lastTypes.has(textOf(parsed(data).type) ?? ''),
  isSign: false,
  isFinal: true,
  timeoutMs: 250,
}
const lastTypes = new Set(['response.completed', 'response.incomplete', 'response.failed'])

// Some Gemini models send a finish reason with every event.
const finishReason: EndMark = {
  isIn: (data) => data.includes('"finishReason"') && textOf(fieldsOf(listOf(parsed(data).candidates)[0]).finishReason) !== undefined,
  isSign: false,
  isFinal: false,
  timeoutMs: 1000,
}

/** The package for Anthropic ends the reply itself. */
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

/** Finds the end mark in the bytes of an event stream, across chunks. */
export class EndWatch {
  readonly #mark: EndMark
  #line = ''
  #data: string[] = []

  constructor(mark: EndMark) {
    this.#mark = mark
  }

  /** How many bytes of the chunk belong to the reply, if it ends in this chunk. */
  read(chunk: Uint8Array): number | undefined {
    // As bytes: the marks are ASCII, so a character that is split between chunks does not matter.
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1')
    let from = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      const line = (this.#line + text.slice(from, at)).replace(/\r$/, '')
      this.#line = ''
      from = at + 1
      if (this.#take(line)) return from
    }
    this.#line += text.slice(from)
    // The line break may never arrive.
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
