import { styleText } from 'node:util'
import type { ClosedRequest, MessagePiece, OutgoingMessage } from 'troupe/extension'

/**
 * The conversation as text. Names, marks and the prompt begin at the edge, everything that agents write is indented: a text cannot
 * pass for a question of Troupe.
 */
export class Conversation {
  readonly #write: (text: string) => void
  /** Where the cursor is. `stream`: in a text that is being written. */
  #cursor: 'prompt' | 'line start' | 'stream' = 'line start'
  /** The message whose pieces are shown. */
  #open: string | undefined
  /** The last piece ended with a line break. */
  #endsLine = false
  #speaker = ''
  /** The request that was shown last. */
  #asked: { readonly id: string; readonly title: string } | undefined

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  begin(): void {
    this.#write(`${styleText('dim', 'Type a message. /help shows the commands.')}\n\n`)
    this.prompt()
  }

  prompt(): void {
    this.#write('> ')
    this.#cursor = 'prompt'
  }

  /** The person pressed Enter. */
  typed(): void {
    this.#cursor = 'line start'
  }

  showPiece({ id, speaker, text }: MessagePiece): void {
    const plain = plainText(text)
    if (plain === '') return
    if (this.#open !== id || this.#cursor !== 'stream') {
      this.#leaveLine()
      if (this.#open !== id) this.#name(speaker)
      this.#open = id
      this.#cursor = 'line start'
    }
    const isStart = this.#cursor !== 'stream' || this.#endsLine
    this.#write(`${isStart && !plain.startsWith('\n') ? indent : ''}${indented(plain)}`)
    this.#endsLine = plain.endsWith('\n')
    this.#cursor = 'stream'
  }

  show(message: OutgoingMessage): void {
    const { kind, text, speaker, id, options = [] } = message
    if (message.request) this.#asked = message.request
    const isShown = kind === 'answer' && message.streamed === true && this.#open === id
    this.#leaveLine()
    if (kind === 'answer') {
      if (!isShown) {
        this.#name(speaker)
        this.#write(`${indent}${indented(plainText(text).trimEnd())}\n`)
      }
      this.#open = undefined
    } else {
      const from = speaker === 'troupe' || (kind === 'question' && speaker === this.#speaker) ? '' : `${plainText(speaker)}: `
      const shown = kind === 'question' ? exactText(text) : plainText(text)
      this.#write(`${marks[kind]} ${from}${indented(shown.trimEnd())}\n`)
      if (options.length > 0) this.#write(`${indent}${styleText('dim', indented(options.map(plainText).join(' · ')))}\n`)
    }
    this.#write('\n')
    this.prompt()
  }

  showAnswered({ id, outcome, by = '' }: ClosedRequest): void {
    const what = this.#asked?.id === id ? `: ${exactText(this.#asked.title)}` : ''
    this.show({ id: '', kind: 'notice', speaker: 'troupe', text: `Already ${outcome} by ${by}${what}` })
  }

  /** Only when it changes. */
  #name(speaker: string): void {
    if (this.#speaker !== speaker) this.#write(`${styleText('bold', plainText(speaker))}\n`)
    this.#speaker = speaker
  }

  /** The next process begins on an empty line. */
  end(): void {
    this.#leaveLine()
  }

  #leaveLine(): void {
    if (this.#cursor === 'prompt') this.#write(eraseLine)
    if (this.#cursor === 'stream' && !this.#endsLine) this.#write('\n')
    this.#cursor = 'line start'
  }
}

const indent = '  '
const eraseLine = '\r\u001b[K'

const marks = { notice: styleText('cyan', '•'), question: styleText('yellow', '?'), error: styleText('red', '!') } as const

/** Empty lines stay empty. */
const indented = (text: string): string => text.replace(/\n(?=[^\n])/g, `\n${indent}`)

/** Without control sequences, other control characters, and marks that change the direction of text. */
export function plainText(text: string): string {
  return text.replace(sequences, '').replace(invisible, '')
}

/** For a decision nothing is left out: what cannot be seen is shown by its number. */
const exactText = (text: string): string =>
  text.replace(invisible, (found) => `<U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`)

/** CSI and OSC sequences. A sequence that is split over two pieces loses its first character, and with it its effect. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to remove
const sequences = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)/g
const invisible = /(?![\n\t])\p{Cc}|[\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu
