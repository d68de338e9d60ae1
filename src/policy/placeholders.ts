// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that

/** A part of a text such as `Bearer ${TOKEN:-none}`. `$${` is a literal `${`. */
export type TextPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string; readonly fallback?: string }

type ParsedText = { readonly ok: true; readonly parts: readonly TextPart[] } | { readonly ok: false; readonly message: string }

export const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

export const placeholderRemedy = 'Write `${NAME}` or `${NAME:-default}`; `$${` stands for a literal `${`.'

export function parsePlaceholders(text: string): ParsedText {
  const parts: TextPart[] = []
  let literal = ''
  let at = 0
  for (let open = text.indexOf('${'); open !== -1; open = text.indexOf('${', at)) {
    literal += text.slice(at, open)
    if (text[open - 1] === '$') {
      literal += '{'
      at = open + 2
      continue
    }
    const close = text.indexOf('}', open)
    if (close === -1) return { ok: false, message: 'a placeholder is not closed' }
    const part = placeholder(text.slice(open + 2, close))
    if (!part) return { ok: false, message: `invalid placeholder \`${shortened(text.slice(open, close + 1))}\`` }
    parts.push({ kind: 'literal', text: literal }, part)
    literal = ''
    at = close + 1
  }
  parts.push({ kind: 'literal', text: literal + text.slice(at) })
  return { ok: true, parts: parts.filter((part) => part.kind === 'variable' || part.text !== '') }
}

export const writtenPlaceholder = ({ name, fallback }: Extract<TextPart, { readonly kind: 'variable' }>): string =>
  fallback === undefined ? `\${${name}}` : `\${${name}:-${fallback}}`

/** Whether the text has placeholders, valid or not. */
export function hasPlaceholders(text: string): boolean {
  if (!text.includes('${')) return false
  const parsed = parsePlaceholders(text)
  return !parsed.ok || parsed.parts.some(({ kind }) => kind === 'variable')
}

/** The text with the values of its variables, or the names of those that are not set or empty. The text has been checked. */
export function fillPlaceholders(
  template: string,
  find: (name: string) => string | undefined,
): string | { readonly missing: readonly string[] } {
  const parsed = parsePlaceholders(template)
  if (!parsed.ok) return template
  const missing: string[] = []
  const texts = parsed.parts.map((part) => {
    if (part.kind === 'literal') return part.text
    const value = find(part.name) || part.fallback
    if (value === undefined) missing.push(part.name)
    return value ?? ''
  })
  return missing.length > 0 ? { missing } : texts.join('')
}

function placeholder(inside: string): TextPart | undefined {
  const split = inside.indexOf(':-')
  const name = split === -1 ? inside : inside.slice(0, split)
  if (!variableName.test(name)) return undefined
  if (split === -1) return { kind: 'variable', name }
  const fallback = inside.slice(split + 2)
  return fallback.includes('${') ? undefined : { kind: 'variable', name, fallback }
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
