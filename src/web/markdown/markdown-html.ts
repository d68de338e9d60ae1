import { Marked, type RendererObject } from 'marked'
import { isSimple } from './is-simple.ts'

// The HTML of markdown. Everything in it is written here: tags of the text are shown as text, apart from a few without attributes.

/** Tags for formatting only, without attributes. */
const plainTag = /^<\/?(?:b|br|del|em|i|ins|kbd|mark|s|small|strong|sub|sup|u)\s*\/?>$/i
const longestLabel = 24

const renderer: RendererObject = {
  html: ({ text }) => (plainTag.test(text.trim()) ? text : escapeHtml(text)),
  // The page has a title and a heading for each message.
  heading({ tokens, depth }) {
    const level = Math.min(6, depth + 2)
    return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`
  },
  code({ text, lang = '' }) {
    const label = (/^[^\s{,:]*/.exec(lang)?.[0] ?? '').slice(0, longestLabel)
    return (
      `<div class="md-code"><div class="md-code-head"><span>${escapeHtml(label)}</span>` +
      `<button type="button" class="md-copy">Copy</button></div><pre tabindex="0"><code>${escapeHtml(text)}\n</code></pre></div>\n`
    )
  },
  link({ href, tokens }) {
    const text = this.parser.parseInline(tokens)
    return linkTo(href, text)
  },
  // Nothing is fetched because a text says so.
  image: ({ href, text }) => linkTo(href, escapeHtml(text.trim() === '' ? 'image' : text)),
  checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
  table({ header, rows }) {
    const row = (cells: typeof header): string => this.tablerow({ text: cells.map((cell) => this.tablecell(cell)).join('') })
    return `<div class="md-table" tabindex="0"><table><thead>${row(header)}</thead><tbody>${rows.map(row).join('')}</tbody></table></div>\n`
  },
}

/** A line break stays one: models end lines where they mean it, and outputs of tools have lines. */
const marked = new Marked({ gfm: true, breaks: true, async: false, renderer })

/** A block whose HTML has more of them takes the browser long. */
const maxTags = 12_000
export const tagsIn = (html: string): number => html.split('<').length

/** The HTML of a block, which must be sanitised as a second line of defence. `undefined`: it is shown as it is. */
export function markdownHtml(text: string): string | undefined {
  if (!isSimple(text)) return undefined
  try {
    const html = marked.parse(text, { async: false })
    return tagsIn(html) > maxTags ? undefined : html
  } catch {
    return undefined
  }
}

function linkTo(address: string, html: string): string {
  const href = safeAddress(address)
  return href === undefined ? html : `<a href="${escapeHtml(href)}" target="_blank" rel="noopener noreferrer">${html}</a>`
}

/** Addresses of other places, and of people. */
export function safeAddress(address: string): string | undefined {
  const url = URL.parse(address.trim())
  return url && ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined
}

const characters: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (each) => characters[each] ?? each)
