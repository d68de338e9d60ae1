/**
 * Whether a text that should be JSON may have been broken off. Told by its brackets and quotes, without regard to what
 * stands in texts: where in doubt it was, because a call made of half a text does something that nobody asked for.
 */
export function isTruncated(text: string): boolean {
  if (!/[}\]]\s*$/.test(text)) return true
  if (count(text, '{') !== count(text, '}') || count(text, '[') !== count(text, ']')) return true
  return count(text, '"') % 2 === 1 || (!text.includes('"') && count(text, "'") % 2 === 1)
}

function count(text: string, wanted: string): number {
  let found = 0
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '\\') index++
    else if (text[index] === wanted) found++
  }
  return found
}
