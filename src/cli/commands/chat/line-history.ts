import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../../util/is-record.ts'
import type { Redactor } from '../../../util/redact.ts'

const fileName = 'chat-history.json'
const maxLines = 500
/** Longer texts are not kept. */
const maxChars = 4_000

/** Lines that a person has sent, in the data folder. Secrets are redacted. A file that cannot be read or written is no error. */
export class LineHistory {
  readonly #path: string
  readonly #redact: Redactor['text']
  #lines: readonly string[]
  #at = 0
  #draft = ''

  constructor(folder: string, redact: Redactor['text']) {
    this.#path = join(folder, fileName)
    this.#redact = redact
    this.#lines = this.#read()
    this.#at = this.#lines.length
  }

  /** The line before or after the shown one. `undefined`: there is none. */
  move(by: -1 | 1, shown: string): string | undefined {
    const to = this.#at + by
    if (to < 0 || to > this.#lines.length) return undefined
    if (this.#at === this.#lines.length) this.#draft = shown
    this.#at = to
    return this.#lines[to] ?? this.#draft
  }

  add(line: string): void {
    const text = this.#redact(line)
    if (text.trim() !== '' && text.length <= maxChars && this.#lines.at(-1) !== text) {
      // Another chat may have written meanwhile.
      this.#lines = [...this.#read(), text].slice(-maxLines)
      this.#write()
    }
    this.#at = this.#lines.length
  }

  #read(): readonly string[] {
    try {
      const stored: unknown = JSON.parse(readFileSync(this.#path, 'utf8'))
      const lines = isRecord(stored) && Array.isArray(stored.lines) ? stored.lines : []
      return lines.filter((line): line is string => typeof line === 'string').slice(-maxLines)
    } catch {
      return []
    }
  }

  #write(): void {
    try {
      mkdirSync(join(this.#path, '..'), { recursive: true, mode: 0o700 })
      const draft = `${this.#path}.${process.pid}`
      writeFileSync(draft, JSON.stringify({ lines: this.#lines }), { mode: 0o600 })
      renameSync(draft, this.#path)
    } catch {
      // The line is still known here.
    }
  }
}
