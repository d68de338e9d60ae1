/** A reference to another template. `names` is `undefined` if they are computed. */
export interface TemplateReference {
  readonly offset: number
  readonly names: readonly string[] | undefined
  readonly optional: boolean
}

export const isTemplate = (text: string): boolean => /\{[{%#]/.test(text)

const referring = new Set(['include', 'import', 'from', 'extends'])
const literal = /"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'/y

/** The templates that a text refers to, outside of comments, `raw` blocks and plain text. */
export function templateReferences(text: string): readonly TemplateReference[] {
  const found: TemplateReference[] = []
  let at = 0
  while (at < text.length) {
    const open = nextOpening(text, at)
    if (open === -1) break
    const kind = text[open + 1]
    if (kind === '#') {
      at = behind(text, '#}', open + 2)
      continue
    }
    const end = closing(text, open + 2, kind === '%' ? '%}' : '}}')
    at = end + 2
    if (kind !== '%') continue
    const inner = text.slice(open + 2, end)
    const [lead = '', word = ''] = /^[-+]?\s*(\w*)/.exec(inner) ?? []
    if (word === 'raw') at = behindRaw(text, at)
    else if (referring.has(word)) found.push({ offset: open, ...referenceIn(inner.slice(lead.length)) })
  }
  return found
}

function nextOpening(text: string, from: number): number {
  const opening = /\{[{%#]/g
  opening.lastIndex = from
  return opening.exec(text)?.index ?? -1
}

const behind = (text: string, mark: string, from: number): number => {
  const found = text.indexOf(mark, from)
  return found === -1 ? text.length : found + mark.length
}

function behindRaw(text: string, from: number): number {
  const end = /\{%[-+]?\s*endraw\s*[-+]?%\}/g
  end.lastIndex = from
  return end.exec(text) ? end.lastIndex : text.length
}

/** The end of a tag; quoted text cannot end it. */
function closing(text: string, from: number, mark: string): number {
  for (let at = from; at < text.length; at++) {
    if (text.startsWith(mark, at)) return at
    if (text[at] !== '"' && text[at] !== "'") continue
    literal.lastIndex = at
    if (!literal.test(text)) break
    at = literal.lastIndex - 1
  }
  return text.length
}

function referenceIn(written: string): Pick<TemplateReference, 'names' | 'optional'> {
  const list = /^\s*[[(]/.exec(written)
  const names: string[] = []
  let at = list ? list[0].length : 0
  for (;;) {
    at += /^[\s,]*/.exec(written.slice(at))?.[0].length ?? 0
    literal.lastIndex = at
    const name = literal.exec(written)
    if (!name) break
    names.push((name[1] ?? name[2] ?? '').replace(/\\(.)/g, '$1'))
    at = literal.lastIndex
    if (!list) break
  }
  const rest = written.slice(at).replace(list ? /^\s*,?\s*[\])]/ : '', '')
  const isPlain = names.length > 0 && /^\s*(?:$|[-+]\s*$|ignore\b|with\b|without\b|as\b|import\b)/.test(rest)
  return { names: isPlain ? names : undefined, optional: /^\s*ignore\s+missing\b/.test(rest) }
}
