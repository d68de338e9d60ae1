/** A pattern whose stars stand for anything: the texts between them. */
export type Glob = readonly string[]

export const parseGlob = (pattern: string): Glob => pattern.split(/\*+/)

/** Each text is looked for once, behind the one before: however many stars there are, nothing is tried again. */
export function matchesGlob([first = '', ...others]: Glob, text: string): boolean {
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  let at = first.length
  for (const part of others) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

/** Whether there can be a text that begins like this and fits. */
export const canMatchPrefix = ([first = '', ...others]: Glob, start: string): boolean =>
  first.startsWith(start) || (others.length > 0 && start.startsWith(first))
