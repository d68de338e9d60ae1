/** Room for the line that closes a block of code, and the one that opens it again. */
const fenceRoom = 80

/**
 * Parts of at most `limit` characters, cut at the last paragraph, line or space. A block of code that is cut is closed and opened again.
 * More text at the end changes the last part only: parts that were sent stay as they are.
 */
export function splitText(text: string, limit: number): readonly string[] {
  const parts: string[] = []
  let rest = text
  while (rest.length > limit) {
    const cut = cutOf(rest, limit - fenceRoom)
    const part = rest.slice(0, cut).trimEnd()
    const fence = openFence(part)
    parts.push(fence === undefined ? part : `${part}\n${fence.mark}`)
    rest = rest.slice(cut).replace(fence === undefined ? /^\s+/ : /^\n/, '')
    if (fence !== undefined) rest = `${fence.line}\n${rest}`
  }
  return rest === '' && parts.length > 0 ? parts : [...parts, rest]
}

function cutOf(text: string, limit: number): number {
  // A part of less than half of the length is worse than a cut in a paragraph.
  const enough = limit / 2
  for (const gap of ['\n\n', '\n', ' ']) {
    const at = text.lastIndexOf(gap, limit)
    if (at >= enough) return at
  }
  // Not between the two halves of a character.
  return /[\ud800-\udbff]/.test(text[limit - 1] ?? '') ? limit - 1 : limit
}

/** The line that opens the block of code at the end, and the mark that closes it. */
function openFence(text: string): { readonly line: string; readonly mark: string } | undefined {
  let open: { readonly line: string; readonly mark: string } | undefined
  for (const [line, mark = '', after = ''] of text.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (!open) open = { line: line.length <= fenceRoom / 2 ? line.trim() : mark, mark }
    else if (mark.startsWith(open.mark) && after.trim() === '') open = undefined
  }
  return open
}
