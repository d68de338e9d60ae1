/*
 * 1. Time and memory are proportional to the page: ends are looked for only where such an element is open, so whatever is
 *    taken off the stack was put there once; writers nest to a fixed depth.
 * 2. What a reader would not see does not appear: a page could otherwise tell a model what it tells nobody else.
 */
import { blocks, close, impliedEnds, isHeading, isList, unread, voids } from './elements.ts'
import { isHidden, languageOf, longestRun, readable, startOf } from './page-parts.ts'
import { scanHtml } from './scan-html.ts'
import { TextWriter, type WriterMode } from './text-writer.ts'

export interface ReadablePage {
  readonly title?: string
  readonly text: string
  /** Whether it was longer than what was asked for. */
  readonly isCut: boolean
}

export interface ReadingOptions {
  /** What links are relative to. */
  readonly base: URL
  /** `markdown` keeps links, headings, tables and code as such. */
  readonly format: 'markdown' | 'text'
  readonly mostCharacters: number
}

/** What a reader would see of a page, as text. */
export function htmlToText(html: string, options: ReadingOptions): ReadablePage {
  return new PageReader(options).read(html)
}

interface OpenElement {
  readonly name: string
  /** Set where what is in it is written aside first, to be put down as a whole. */
  readonly aside?: 'heading' | 'link' | 'code' | 'pre' | 'cell' | 'title'
  readonly href?: string
  /** Whether it is one of the tables that are put down as such. */
  readonly isTable?: boolean
}

interface OpenTable {
  rows: number
  cells: string[]
}

const longestLink = 2_048
const mostWriters = 12
const mostTables = 4
const longestCell = 300
const mostImplied = 16

class PageReader {
  readonly #options: ReadingOptions
  readonly #stack: OpenElement[] = []
  readonly #open = new Map<string, number>()
  readonly #writers = [new TextWriter('lines')]
  readonly #tables: OpenTable[] = []
  #base: URL
  #title: string | undefined
  /** Of the code that is being read. */
  #language = ''
  /** How high the stack was when what is not to be read began. */
  #unreadFrom: number | undefined
  #written = 0

  constructor(options: ReadingOptions) {
    this.#options = options
    this.#base = options.base
  }

  read(html: string): ReadablePage {
    let isCut = false
    for (const token of scanHtml(html)) {
      if (token.kind === 'close') this.#close(token.name)
      else if (token.kind === 'text') this.#text(token.text)
      else this.#begin(token.name, token.attributes)
      isCut = this.#written > this.#options.mostCharacters
      if (isCut) break
    }
    while (this.#stack.length > 0) this.#end()
    const text = readable(this.#writers[0]?.finish() ?? '')
    const { mostCharacters } = this.#options
    const title = this.#title === undefined ? '' : readable(this.#title).replace(/\s+/g, ' ').trim().slice(0, 300)
    return {
      ...(title !== '' && { title }),
      text: text.slice(0, mostCharacters).toWellFormed(),
      isCut: isCut || text.length > mostCharacters,
    }
  }

  get #writer(): TextWriter {
    return this.#writers.at(-1) ?? new TextWriter('lines')
  }

  #text(text: string): void {
    if (this.#unreadFrom !== undefined) return
    this.#written += text.length
    this.#writer.text(text)
  }

  #begin(name: string, attributes: ReadonlyMap<string, string>): void {
    this.#endImplied(name)
    if (voids.has(name)) {
      if (this.#unreadFrom === undefined) this.#void(name, attributes)
      return
    }
    if (this.#unreadFrom === undefined && (unread.has(name) || (name !== 'body' && name !== 'html' && isHidden(attributes))))
      this.#unreadFrom = this.#stack.length
    const element = this.#unreadFrom === undefined ? this.#enter(name, attributes) : { name }
    this.#stack.push(element)
    this.#open.set(name, (this.#open.get(name) ?? 0) + 1)
  }

  #void(name: string, attributes: ReadonlyMap<string, string>): void {
    const alt = attributes.get('alt') ?? ''
    if (name === 'br') this.#writer.break(1)
    else if (name === 'hr' && this.#writer.mode === 'lines') this.#writer.block(this.#isMarkdown ? '---' : '')
    else if (name === 'img' && alt.trim() !== '') this.#text(alt)
    else if (name === 'base') this.#rebase(attributes.get('href') ?? '')
  }

  /** Every link is read with it, so a long one would cost its length times their number. */
  #rebase(href: string): void {
    const url = href.length > longestLink ? null : URL.parse(href, this.#base.href)
    if (url && url.href.length <= longestLink) this.#base = url
  }

  #enter(name: string, attributes: ReadonlyMap<string, string>): OpenElement {
    const { mode } = this.#writer
    if (blocks.has(name)) this.#writer.break(close.has(name) ? 1 : 2)
    if (name === 'title' && this.#title === undefined) return this.#aside({ name, aside: 'title' }, 'line')
    if (name === 'a') return this.#enterLink(attributes)
    if (name === 'code' && mode !== 'verbatim' && !this.#open.get('code')) return this.#aside({ name, aside: 'code' }, 'line')
    if (mode === 'verbatim') this.#language = languageOf(attributes) || this.#language
    if (mode !== 'lines') return { name }
    return this.#enterBlock(name, attributes)
  }

  #enterBlock(name: string, attributes: ReadonlyMap<string, string>): OpenElement {
    if (isHeading(name)) return this.#aside({ name, aside: 'heading' }, 'line')
    if (name === 'pre') {
      this.#language = languageOf(attributes)
      return this.#aside({ name, aside: 'pre' }, 'verbatim')
    }
    if (isList(name)) this.#writer.openList(name === 'ol', startOf(attributes))
    else if (name === 'li') this.#writer.openEntry()
    else if (name === 'blockquote') this.#writer.quote(1)
    else if (name === 'table' && this.#tables.length < mostTables && this.#isInKnownTable) {
      this.#tables.push({ rows: 0, cells: [] })
      return { name, isTable: true }
    } else if ((name === 'td' || name === 'th') && this.#tables.length > 0 && this.#isInKnownTable)
      return this.#aside({ name, aside: 'cell' }, 'lines')
    return { name }
  }

  /** Not in one that is too deep, or in a line. */
  get #isInKnownTable(): boolean {
    return this.#tables.length === (this.#open.get('table') ?? 0)
  }

  #enterLink(attributes: ReadonlyMap<string, string>): OpenElement {
    const href = this.#isMarkdown && this.#writer.mode !== 'verbatim' ? this.#address(attributes.get('href')) : undefined
    return href === undefined ? { name: 'a' } : this.#aside({ name: 'a', aside: 'link', href }, 'line')
  }

  #aside(element: OpenElement, mode: WriterMode): OpenElement {
    if (this.#writers.length >= mostWriters) return { name: element.name }
    this.#writers.push(new TextWriter(mode))
    return element
  }

  #close(name: string): void {
    if (name === 'br') this.#writer.break(1)
    if (!this.#open.get(name)) return
    while (this.#end() !== name);
  }

  #endImplied(name: string): void {
    const { ends, within } = impliedEnds(name)
    if (ends.size === 0) return
    for (let up = 1; up <= mostImplied; up++) {
      const above = this.#stack.at(-up)?.name
      if (above === undefined || within.has(above)) return
      if (!ends.has(above)) continue
      for (let count = up; count > 0; count--) this.#end()
      return
    }
  }

  /** Takes the last element off the stack. */
  #end(): string | undefined {
    const element = this.#stack.pop()
    if (!element) return undefined
    const { name } = element
    this.#open.set(name, (this.#open.get(name) ?? 1) - 1)
    if (this.#unreadFrom !== undefined) {
      if (this.#stack.length <= this.#unreadFrom) this.#unreadFrom = undefined
      return name
    }
    if (element.aside) this.#putDown(element, element.aside)
    else if (this.#writer.mode === 'lines') this.#leave(element)
    if (blocks.has(name)) this.#writer.break(close.has(name) ? 1 : 2)
    return name
  }

  #leave({ name, isTable }: OpenElement): void {
    if (isList(name)) this.#writer.closeList()
    else if (name === 'blockquote') this.#writer.quote(-1)
    else if (name === 'tr' && this.#isInKnownTable) this.#endRow()
    else if (isTable) {
      this.#endRow()
      this.#tables.pop()
    }
  }

  #putDown(element: OpenElement, aside: NonNullable<OpenElement['aside']>): void {
    const text = this.#writers.pop()?.finish() ?? ''
    if (aside === 'title') {
      this.#title = text
      return
    }
    if (aside === 'cell') {
      this.#tables.at(-1)?.cells.push(text)
      return
    }
    if (text.trim() === '') return
    const extra = aside === 'link' ? (element.href ?? '').length + 4 : 8
    this.#written += extra
    const put = this.#marked(aside, element, text)
    if (aside === 'link' || aside === 'code') this.#writer.inline(put)
    else this.#writer.block(put)
  }

  #marked(aside: 'heading' | 'link' | 'code' | 'pre', { name, href }: OpenElement, text: string): string {
    if (!this.#isMarkdown) return aside === 'pre' ? text.replace(/^\n/, '').trimEnd() : text
    switch (aside) {
      case 'heading':
        return `${'#'.repeat(Number(name[1]))} ${text}`
      case 'link':
        return `[${text.replaceAll(']', '\\]')}](${href})`
      case 'code':
        return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
      case 'pre': {
        const fence = '`'.repeat(Math.max(3, longestRun(text) + 1))
        return `${fence}${this.#language}\n${text.replace(/^\n/, '').trimEnd()}\n${fence}`
      }
      default:
        return aside satisfies never
    }
  }

  #endRow(): void {
    const table = this.#tables.at(-1)
    if (!table || table.cells.length === 0) return
    const { cells } = table
    table.cells = []
    if (cells.every((cell) => cell.trim() === '')) return
    const isData = cells.length > 1 && cells.every((cell) => cell.length <= longestCell)
    // Tables were a way to lay out pages: what is no row of data is put down piece by piece.
    if (!isData) {
      for (const cell of cells) if (cell.trim() !== '') this.#writer.block(cell)
      return
    }
    const row = cells.map((cell) => cell.replace(/\s+/g, ' ').trim())
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

  #address(href: string | undefined): string | undefined {
    if (href === undefined || href.length > longestLink || href.trim() === '' || href.trim().startsWith('#')) return undefined
    const url = URL.parse(href.trim(), this.#base.href)
    if (!url || !/^(?:https?|mailto):$/.test(url.protocol) || url.href.length > longestLink) return undefined
    return url.href.replaceAll('(', '%28').replaceAll(')', '%29')
  }

  get #isMarkdown(): boolean {
    return this.#options.format === 'markdown'
  }
}
