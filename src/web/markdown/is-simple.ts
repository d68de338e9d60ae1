import { isDefinition } from './definitions.ts'

// For each mark the parser may read the rest of its paragraph. It fills each row of a table up to the widest one, and recurses for each
// level of nesting. A text of a model must not stop the page: a block that is not simple is shown as it is. The worst block that is
// simple takes some 200 ms.

const maxBlock = 100_000
/** Outside of code and definitions. A line costs more than its characters. */
const maxProse = 50_000
const lineCost = 10
/** Marks times characters of each paragraph, item or row, which are parsed one by one. */
const maxWork = 8_000_000
const maxEmphasis = 4_000
const maxDefinitions = 1_000
const maxCells = 5_000
const emphasis = /[*_~]/g
const marks = /[*_~![<`]| (?= )/g
/** More than 20 levels in a line, or a list at an indentation that needs as many. */
const nested = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]?){20,}|^[ \t]{60,}(?:[-*+>]|\d{1,9}[.)])/
const fenceStart = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/
const separate = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s|$)/
const tableRow = /^\s*\|/
const tableStart = /^\s*\|[\s|:-]*-[\s|:-]*$/

/** Whether one block is simple enough. */
export function isSimple(text: string): boolean {
  if (text.length > maxBlock) return false
  let fence: string | undefined
  const sum = { prose: 0, work: 0, emphasis: 0, definitions: 0, columns: 0, cells: 0 }
  let paragraph = { length: 0, marks: 0, isTable: false }
  for (const line of text.split('\n')) {
    const mark = line.trim()
    if (fence !== undefined) {
      if (mark.startsWith(fence) && mark === (mark[0] ?? '').repeat(mark.length)) fence = undefined
      continue
    }
    fence = fenceStart.exec(line)?.[1]
    if (fence !== undefined) continue
    // Within a paragraph it is text.
    if (paragraph.length === 0 && isDefinition(line)) {
      if (++sum.definitions > maxDefinitions) return false
      continue
    }
    const isRow = tableRow.test(line) && (paragraph.isTable || tableStart.test(line))
    if (isRow || separate.test(line)) {
      sum.work += paragraph.length * paragraph.marks
      paragraph = { length: 0, marks: 0, isTable: isRow }
    }
    sum.prose += line.length + lineCost
    sum.emphasis += line.match(emphasis)?.length ?? 0
    paragraph.length += mark === '' ? 0 : line.length + 1
    paragraph.marks += mark.match(marks)?.length ?? 0
    sum.columns = mark === '' ? 0 : Math.max(sum.columns, line.split('|').length - 1)
    sum.cells += sum.columns
    const work = sum.work + paragraph.length * paragraph.marks
    if (sum.prose > maxProse || work > maxWork || sum.emphasis > maxEmphasis) return false
    if (sum.cells > maxCells || nested.test(line)) return false
  }
  return true
}
