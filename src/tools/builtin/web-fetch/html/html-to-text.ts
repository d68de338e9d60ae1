// 1. Time is proportional to the size of the page. The parser searches its stack of open elements, so the depth is bounded;
//    writers nest to a fixed depth; long pages are parsed in chunks, and other work runs between them.
// 2. Text that readers of the page do not see is left out: it could carry instructions for the model.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Parser } from 'htmlparser2'
import { oneLine } from '../../../../util/one-line.ts'
import { type Attributes, breaksAround, codeLanguage, isHeading, isHidden, isList, listStart } from './html-elements.ts'
import { TextWriter, type WriterMode } from './text-writer.ts'

export interface HtmlText {
  readonly title?: string
  readonly text: string
  /** The page was longer than `mostCharacters`, or its elements too deeply nested. */
  readonly isCut: boolean
}

export interface HtmlToTextOptions {
  /** Links are relative to it. */
  readonly base: URL
  /** `markdown` keeps links, headings, tables and code. */
  readonly format: 'markdown' | 'text'
  readonly mostCharacters: number
}

const chunkLength = 65_536

export async function htmlToText(html: string, options: HtmlToTextOptions): Promise<HtmlText> {
  const converter = new HtmlConverter(options)
  for (let at = 0; at < html.length && !converter.isCut; at += chunkLength) {
    if (at > 0) await nextTurn()
    converter.parser.write(html.slice(at, at + chunkLength))
  }
  return converter.finish()
}

type BufferedKind = 'heading' | 'link' | 'code' | 'pre' | 'cell' | 'title'

interface OpenElement {
  readonly name: string
  /** Its content has a writer of its own until the element ends. */
  readonly buffered?: BufferedKind
  readonly href?: string
  /** It has an entry in the list of open tables. */
  readonly isTable?: boolean
}

const longestLink = 2_048
const mostDepth = 500
const mostWriters = 12
const mostTables = 4
const longestCell = 300
const longestTitle = 300

class HtmlConverter {
  readonly #options: HtmlToTextOptions
  readonly parser: Parser
  readonly #stack: OpenElement[] = []
  readonly #openCounts = new Map<string, number>()
  readonly #writers = [new TextWriter('lines')]
  readonly #tables: { rows: number; cells: string[] }[] = []
  #base: URL
  #title: string | undefined
  /** The language of the current code block. */
  #language = ''
  /** The depth of the outermost hidden element. */
  #hiddenFrom: number | undefined
  #written = 0
  isCut = false

  constructor(options: HtmlToTextOptions) {
    this.#options = options
    this.#base = options.base
    this.parser = new Parser({
      onopentag: (name, attributes) => this.#open(name, attributes),
      ontext: (text) => this.#text(text),
      onclosetag: () => {
        if (!this.isCut) this.#end()
      },
    })
  }

  finish(): HtmlText {
    if (!this.isCut) this.parser.end()
    while (this.#stack.length > 0) this.#end()
    const { mostCharacters } = this.#options
    const text = visibleText(this.#writers[0]?.finish() ?? '')
    const title = visibleText(this.#title ?? '')
      .replace(/\s+/g, ' ')
      .slice(0, longestTitle)
    return {
      ...(title !== '' && { title }),
      text: text.slice(0, mostCharacters).toWellFormed(),
      isCut: this.isCut || text.length > mostCharacters,
    }
  }

  get #writer(): TextWriter {
    return this.#writers.at(-1) ?? new TextWriter('lines')
  }

  #text(text: string): void {
    if (this.#hiddenFrom !== undefined || this.isCut) return
    this.#writer.text(text)
    this.#count(text.length)
  }

  #count(letters: number): void {
    this.#written += letters
    if (this.#written > this.#options.mostCharacters) this.#cut()
  }

  #cut(): void {
    this.isCut = true
    this.parser.pause()
  }

  #open(name: string, attributes: Attributes): void {
    if (this.isCut) return
    if (this.#hiddenFrom === undefined && isHidden(name, attributes)) this.#hiddenFrom = this.#stack.length
    this.#stack.push(this.#hiddenFrom === undefined ? this.#enter(name, attributes) : { name })
    this.#openCounts.set(name, (this.#openCounts.get(name) ?? 0) + 1)
    if (this.#stack.length > mostDepth) this.#cut()
  }

  #enter(name: string, attributes: Attributes): OpenElement {
    const { mode } = this.#writer
    const breaks = breaksAround(name)
    if (breaks !== 0) this.#writer.break(breaks)
    if (name === 'br') this.#writer.break(1)
    else if (name === 'img') this.#text(attributes.alt ?? '')
    else if (name === 'base') this.#setBase(attributes.href ?? '')
    else if (name === 'a') return this.#enterLink(attributes)
    else if (name === 'title' && this.#title === undefined) return this.#buffer({ name, buffered: 'title' }, 'line')
    else if (name === 'code' && mode !== 'verbatim' && !this.#openCounts.get('code'))
      return this.#buffer({ name, buffered: 'code' }, 'line')
    else if (mode === 'verbatim') this.#language = codeLanguage(attributes) || this.#language
    else if (mode === 'lines') return this.#enterBlock(name, attributes)
    return { name }
  }

  #enterBlock(name: string, attributes: Attributes): OpenElement {
    if (isHeading(name)) return this.#buffer({ name, buffered: 'heading' }, 'line')
    if (name === 'pre') {
      this.#language = codeLanguage(attributes)
      return this.#buffer({ name, buffered: 'pre' }, 'verbatim')
    }
    if (name === 'hr') this.#writer.block(this.#isMarkdown ? '---' : '')
    else if (isList(name)) this.#writer.openList(name === 'ol', listStart(attributes))
    else if (name === 'li') this.#writer.openEntry()
    else if (name === 'blockquote') this.#writer.quote(1)
    else if (name === 'table' && this.#tables.length < mostTables && this.#isInOpenTable) {
      this.#tables.push({ rows: 0, cells: [] })
      return { name, isTable: true }
    } else if ((name === 'td' || name === 'th') && this.#tables.length > 0 && this.#isInOpenTable)
      return this.#buffer({ name, buffered: 'cell' }, 'lines')
    return { name }
  }

  /** False within tables that are nested too deeply, or that are part of a line. */
  get #isInOpenTable(): boolean {
    return this.#tables.length === (this.#openCounts.get('table') ?? 0)
  }

  #enterLink(attributes: Attributes): OpenElement {
    const href = this.#isMarkdown && this.#writer.mode !== 'verbatim' ? this.#linkTarget(attributes.href) : undefined
    return href === undefined ? { name: 'a' } : this.#buffer({ name: 'a', buffered: 'link', href }, 'line')
  }

  #buffer(element: OpenElement, mode: WriterMode): OpenElement {
    if (this.#writers.length >= mostWriters) return { name: element.name }
    this.#writers.push(new TextWriter(mode))
    return element
  }

  /** Every link is resolved against the base, so its length is bounded, too. */
  #setBase(href: string): void {
    const url = href.length > longestLink ? null : URL.parse(href, this.#base.href)
    if (url && url.href.length <= longestLink) this.#base = url
  }

  #linkTarget(href = ''): string | undefined {
    if (href.length > longestLink || href.trim() === '' || href.trim().startsWith('#')) return undefined
    const url = URL.parse(href.trim(), this.#base.href)
    if (!url || !/^(?:https?|mailto):$/.test(url.protocol) || url.href.length > longestLink) return undefined
    return url.href.replaceAll('(', '%28').replaceAll(')', '%29')
  }

  #end(): void {
    const element = this.#stack.pop()
    if (!element) return
    const { name } = element
    this.#openCounts.set(name, (this.#openCounts.get(name) ?? 1) - 1)
    if (this.#hiddenFrom !== undefined) {
      if (this.#stack.length <= this.#hiddenFrom) this.#hiddenFrom = undefined
      return
    }
    if (element.buffered) this.#writeBuffered(element, element.buffered)
    else if (this.#writer.mode === 'lines') this.#leave(element)
    const breaks = breaksAround(name)
    if (breaks !== 0) this.#writer.break(breaks)
  }

  #leave({ name, isTable }: OpenElement): void {
    if (isList(name)) this.#writer.closeList()
    else if (name === 'blockquote') this.#writer.quote(-1)
    else if (name === 'tr' && this.#isInOpenTable) this.#endRow()
    else if (isTable) {
      this.#endRow()
      this.#tables.pop()
    }
  }

  #writeBuffered(element: OpenElement, kind: BufferedKind): void {
    const text = this.#writers.pop()?.finish() ?? ''
    if (kind === 'title') this.#title = text
    else if (kind === 'cell') this.#tables.at(-1)?.cells.push(text)
    else if (text.trim() !== '') {
      const formatted = this.#formatted(kind, element, text)
      if (kind === 'link' || kind === 'code') this.#writer.inline(formatted)
      else this.#writer.block(formatted)
      this.#count(kind === 'link' ? (element.href ?? '').length + 4 : 8)
    }
  }

  #formatted(kind: 'heading' | 'link' | 'code' | 'pre', { name, href }: OpenElement, text: string): string {
    const code = kind === 'pre' ? text.replace(/^\n/, '').trimEnd() : text
    if (!this.#isMarkdown) return code
    switch (kind) {
      case 'heading':
        return `${'#'.repeat(Number(name[1]))} ${text}`
      case 'link':
        return `[${text.replaceAll(']', '\\]')}](${href})`
      case 'code':
        return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
      case 'pre': {
        const fence = '`'.repeat(Math.max(3, longestBacktickRun(text) + 1))
        return `${fence}${this.#language}\n${code}\n${fence}`
      }
      default:
        return kind satisfies never
    }
  }

  #endRow(): void {
    const table = this.#tables.at(-1)
    if (!table || table.cells.length === 0) return
    const { cells } = table
    table.cells = []
    if (cells.every((cell) => cell.trim() === '')) return
    // Old pages use tables for layout. Rows that are not data become separate blocks.
    if (cells.length === 1 || cells.some((cell) => cell.length > longestCell)) {
      for (const cell of cells) if (cell.trim() !== '') this.#writer.block(cell)
      return
    }
    const row = cells.map((cell) => oneLine(cell))
    table.rows++
    this.#writer.break(table.rows === 1 ? 2 : 1)
    if (!this.#isMarkdown) {
      this.#writer.inline(row.join(' | '))
      return
    }
    this.#writer.inline(`| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    if (table.rows > 1) return
    this.#writer.break(1)
    this.#writer.inline(`|${' --- |'.repeat(row.length)}`)
  }

  get #isMarkdown(): boolean {
    return this.#options.format === 'markdown'
  }
}

/** The fence of a code block must be longer; bounded. */
function longestBacktickRun(text: string): number {
  let longest = 0
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  return Math.min(longest, 100)
}

/** Without control characters and invisible letters, which only machines read. */
function visibleText(text: string): string {
  return (
    text
      .replaceAll('\u00a0', ' ')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are removed
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]/gu, '')
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .replace(/\n{3,}/g, '\n\n')
      .trim()
  )
}
