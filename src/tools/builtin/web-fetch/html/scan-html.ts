/*
 * Every letter is looked at a bounded number of times, whatever the page is: a search that finds nothing takes the rest of
 * the page with it, so it is the last one.
 */
import { decodeEntities } from './entities.ts'

export type HtmlToken =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'open'; readonly name: string; readonly attributes: ReadonlyMap<string, string> }
  | { readonly kind: 'close'; readonly name: string }

/** What stands in these is no markup, and no text for a reader either. */
const opaque = new Set(['script', 'style', 'iframe', 'noembed', 'noframes', 'xmp', 'textarea'])

const tagName = /[a-zA-Z][^\s/>]*/y
const attributeName = /[^\s/>=][^\s/>=]*/y
const blank = /[\s/]*/y
const space = /\s*/y
const bare = /[^\s>]*/y
/** A page has no use for more, and each costs memory. */
const mostAttributes = 50

/** The markup of a page, piece by piece. What is broken is read as browsers would read it, roughly; nothing is run. */
export function* scanHtml(html: string): Generator<HtmlToken, void, undefined> {
  let at = 0
  while (at < html.length) {
    const tag = html.indexOf('<', at)
    const end = tag === -1 ? html.length : tag
    if (end > at) yield { kind: 'text', text: decodeEntities(html.slice(at, end)) }
    if (tag === -1) return
    const next = html[tag + 1] ?? ''
    if (next === '!' || next === '?') at = afterComment(html, tag)
    else if (next === '/' && /[a-zA-Z]/.test(html[tag + 2] ?? '')) {
      const name = match(tagName, html, tag + 2)
      yield { kind: 'close', name: name.toLowerCase() }
      at = after(html, '>', tag + 2 + name.length)
    } else if (/[a-zA-Z]/.test(next)) {
      const open = openTag(html, tag)
      at = open.end
      const { name } = open.token
      yield open.token
      if (name !== 'title' && !opaque.has(name)) continue
      const close = closeOf(html, name, at)
      if (name === 'title') yield { kind: 'text', text: decodeEntities(html.slice(at, close)) }
      at = close
    } else {
      yield { kind: 'text', text: '<' }
      at = tag + 1
    }
  }
}

function afterComment(html: string, at: number): number {
  if (html.startsWith('<!--', at)) return after(html, '-->', at + 2)
  return after(html, '>', at)
}

function after(html: string, wanted: string, from: number): number {
  const found = html.indexOf(wanted, from)
  return found === -1 ? html.length : found + wanted.length
}

const closings = new Map<string, RegExp>()

function closeOf(html: string, name: string, from: number): number {
  const closing = closings.get(name) ?? new RegExp(`</${name}(?=[\\s/>])`, 'gi')
  closings.set(name, closing)
  closing.lastIndex = from
  return closing.exec(html)?.index ?? html.length
}

function openTag(html: string, tag: number): { readonly token: Extract<HtmlToken, { kind: 'open' }>; readonly end: number } {
  const name = match(tagName, html, tag + 1)
  const attributes = new Map<string, string>()
  let at = tag + 1 + name.length
  for (;;) {
    at += match(blank, html, at).length
    if (at >= html.length || html[at] === '>') break
    const key = match(attributeName, html, at)
    // A lone `=`.
    if (key === '') {
      at++
      continue
    }
    at += key.length
    const gap = match(space, html, at).length
    if (html[at + gap] !== '=') {
      keep(attributes, key, '')
      continue
    }
    at += gap + 1
    at += match(space, html, at).length
    const quote = html[at]
    if (quote === '"' || quote === "'") {
      const close = after(html, quote, at + 1)
      keep(attributes, key, html.slice(at + 1, close - 1))
      at = close
    } else {
      const value = match(bare, html, at)
      keep(attributes, key, value)
      at += value.length
    }
  }
  return { token: { kind: 'open', name: name.toLowerCase(), attributes }, end: Math.min(html.length, at + 1) }
}

function keep(attributes: Map<string, string>, key: string, value: string): void {
  const name = key.toLowerCase()
  if (attributes.size < mostAttributes && !attributes.has(name)) attributes.set(name, decodeEntities(value))
}

function match(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0] ?? ''
}
