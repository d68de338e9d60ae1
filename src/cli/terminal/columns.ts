import { wrapWords } from './wrap-line.ts'

export type Row = readonly [left: string, right: string]

interface ColumnsStyle {
  /** Width of the left column. Default: that of its longest entry. */
  readonly left?: number
  readonly maxWidth?: number | undefined
}

/** Two columns. The right one is wrapped, or placed below the left one if there is too little room. */
export function columns(
  rows: readonly Row[],
  { left: width = leftWidth(rows), maxWidth = maxColumns }: ColumnsStyle = {},
): readonly string[] {
  const beside = maxWidth - width - 4
  const isNarrow = beside < minRightWidth
  const indent = ' '.repeat(isNarrow ? narrowIndent : width + 4)
  return rows.flatMap(([left, right]) => {
    const lines = right.split('\n').flatMap((line) => wrapWords(line, isNarrow ? maxWidth - narrowIndent : beside))
    const [first = '', ...more] = isNarrow ? ['', ...lines] : lines
    return [`  ${left.padEnd(width)}  ${first}`.trimEnd(), ...more.map((line) => `${indent}${line}`.trimEnd())]
  })
}

export const leftWidth = (rows: readonly Row[]): number => Math.max(0, ...rows.map(([left]) => left.length))

const maxColumns = 110
/** A narrower right column is unreadable. */
const minRightWidth = 24
const narrowIndent = 6

export const paragraph = (text: string, maxWidth = maxColumns): readonly string[] => wrapWords(text, maxWidth)

/** Limited, because very long lines are hard to read. */
export const columnsOn = ({ columns: window }: { readonly columns: number | undefined }): number =>
  Math.min(maxColumns, (window ?? maxColumns + 1) - 1)
