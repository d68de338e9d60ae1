import { fieldsOf, isFields, textOf } from '../shared/records.ts'

const longest = 300

/** One line that can be read at a glance. */
export function shorten(text: string, length = longest): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > length ? `${line.slice(0, length).trimEnd()}…` : line
}

/** What the body of a failed answer says, wherever its provider puts that. */
export function bodyText(body: string): string | undefined {
  const said = saying(parsed(body))
  return said === undefined || said.trim() === '' ? undefined : said
}

export const isWebPage = (body: string): boolean => /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(body)

/** The words of a page, without its markup. */
export function pageText(body: string): string {
  const text = body
    .slice(0, 20_000)
    .replaceAll(/<(script|style)\b[\s\S]*?(?:<\/\1>|$)/gi, ' ')
    .replaceAll(/<[^>]*>?/g, ' ')
  return shorten(text, 120)
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function saying(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return saying(value[0])
  if (!isFields(value)) return undefined
  const { error, message, msg, detail, metadata } = value
  const own = [error, message, msg, detail].map(saying).find((text) => text !== undefined)
  // OpenRouter says only that somebody else failed, and puts what that somebody said beside it.
  const raw = textOf(fieldsOf(metadata).raw)
  if (raw === undefined) return own
  const inner = saying(parsed(raw)) ?? raw
  return own === undefined ? inner : `${own}: ${inner}`
}
