/** A pattern in which `*` matches anything: the texts between the stars. */
export type Glob = readonly string[]

export const parseGlob = (pattern: string): Glob => pattern.split(/\*+/)

/** Linear: each text is searched once, after the one before. */
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

/** Whether some text with this start can match. */
export const canMatchPrefix = ([first = '', ...others]: Glob, start: string): boolean =>
  first.startsWith(start) || (others.length > 0 && start.startsWith(first))
