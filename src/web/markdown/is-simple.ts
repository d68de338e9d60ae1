// The parser takes time that grows with the square of a paragraph, fills each row of a table up to the widest one, and recurses for each
// level of nesting. A text of a model must not stop the page: a block that is not simple is shown as it is. The worst block that is
// simple takes some 200 ms.

const maxBlock = 100_000
/** Outside of code. */
const maxProse = 30_000
/** In one paragraph, item or row, which are parsed one by one. */
const maxParagraph = 5_000
const maxMarks = 4_000
const maxCells = 5_000
const marks = /[*_~]/g
/** More than 20 levels in a line, or a list at an indentation that needs as many. */
const nested = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]?){20,}|^[ \t]{60,}(?:[-*+>]|\d{1,9}[.)])/
const fenceStart = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/
const separate = /^\s*(?:\||(?:[-*+]|\d{1,9}[.)])\s|$)/

/** Of one block. */
export function isSimple(text: string): boolean {
  if (text.length > maxBlock) return false
  let fence: string | undefined
  const sum = { prose: 0, paragraph: 0, marks: 0, columns: 0, cells: 0 }
  for (const line of text.split('\n')) {
    const mark = line.trim()
    if (fence !== undefined) {
      if (mark.startsWith(fence) && mark === (mark[0] ?? '').repeat(mark.length)) fence = undefined
      continue
    }
    fence = fenceStart.exec(line)?.[1]
    if (fence !== undefined) continue
    if (separate.test(line)) sum.paragraph = 0
    sum.paragraph += line.length + 1
    sum.prose += line.length + 1
    if (sum.paragraph > maxParagraph || sum.prose > maxProse || nested.test(line)) return false
    sum.marks += line.match(marks)?.length ?? 0
    sum.columns = mark === '' ? 0 : Math.max(sum.columns, line.split('|').length - 1)
    sum.cells += sum.columns
    if (sum.marks > maxMarks || sum.cells > maxCells) return false
  }
  return true
}
