// The parser takes time that grows with the square of the marks in a paragraph, and recurses for each level of nesting. A text of a model
// must not stop the page: what is not simple is shown as it is.

/** In one paragraph, and in one line: items and rows of a table are parsed one by one. */
const maxMarks = 2_000
const maxMarksOfLine = 1_000
const marks = /[*_~]/g
/** More than 20 levels in a line, or a list at an indentation that needs as many. */
const nested = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]?){20,}|^[ \t]{60,}(?:[-*+>]|\d{1,9}[.)])/
const fenceStart = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/
const separate = /^\s*(?:\||(?:[-*+]|\d{1,9}[.)])\s)/

export function isSimple(text: string): boolean {
  let fence: string | undefined
  let sum = 0
  for (const line of text.split('\n')) {
    const mark = line.trim()
    if (fence !== undefined) {
      if (mark.startsWith(fence) && mark === (mark[0] ?? '').repeat(mark.length)) fence = undefined
      continue
    }
    fence = fenceStart.exec(line)?.[1]
    if (fence !== undefined) continue
    if (nested.test(line)) return false
    const count = line.match(marks)?.length ?? 0
    if (mark === '') sum = 0
    else if (!separate.test(line)) sum += count
    if (count > maxMarksOfLine || sum > maxMarks) return false
  }
  return true
}
