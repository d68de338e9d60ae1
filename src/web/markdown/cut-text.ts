/** The beginning of a text: at most so many lines and characters. */
export function cutText(text: string, { lines, characters }: { readonly lines: number; readonly characters: number }): string {
  let end = Math.min(text.length, characters)
  for (let line = 0, at = -1; line < lines; line++) {
    at = text.indexOf('\n', at + 1)
    if (at === -1 || at >= end) break
    if (line === lines - 1) end = at
  }
  // A character of two units stays whole.
  const isHalf = end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? '')
  return text.slice(0, isHalf ? end - 1 : end)
}
