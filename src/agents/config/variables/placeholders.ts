// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that

/** `Bearer ${TOKEN:-none}` in parts. `$${` is a `${` that means itself. */
export type TextPart =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string; readonly otherwise?: string }

export type Template = { readonly ok: true; readonly parts: readonly TextPart[] } | { readonly ok: false; readonly message: string }

/** The one spelling of a variable's name, in placeholders and in `.env` files. */
export const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/

export const placeholderRemedy = 'Write `${NAME}` or `${NAME:-default}`; `$${` stands for `${` itself.'

/** Takes a text apart, once: what a variable holds is never read as a template. */
export function parsePlaceholders(text: string): Template {
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
    if (!part) return { ok: false, message: `there is no placeholder like \`${shortened(text.slice(open, close + 1))}\`` }
    parts.push({ kind: 'literal', text: literal }, part)
    literal = ''
    at = close + 1
  }
  parts.push({ kind: 'literal', text: literal + text.slice(at) })
  return { ok: true, parts: parts.filter((part) => part.kind === 'variable' || part.text !== '') }
}

/** Whether anything but the text itself would be read, or the text is no template at all. */
export function hasPlaceholders(text: string): boolean {
  if (!text.includes('${')) return false
  const template = parsePlaceholders(text)
  return !template.ok || template.parts.some(({ kind }) => kind === 'variable')
}

function placeholder(inside: string): TextPart | undefined {
  const split = inside.indexOf(':-')
  const name = split === -1 ? inside : inside.slice(0, split)
  if (!variableName.test(name)) return undefined
  if (split === -1) return { kind: 'variable', name }
  const otherwise = inside.slice(split + 2)
  return otherwise.includes('${') ? undefined : { kind: 'variable', name, otherwise }
}

const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text)
