/**
 * How much of a Markdown text cannot change any more while it grows: everything up to the last blank line that is not in a code block.
 */
export function settledLength(text: string): number {
  let settled = 0
  let at = 0
  let fence = ''
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', at)) {
    const line = text.slice(at, end)
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? ''
    if (fence === '') fence = mark
    else if (mark.startsWith(fence) && line.trim() === mark) fence = ''
    at = end + 1
    if (fence === '' && line.trim() === '') settled = at
  }
  return settled
}
