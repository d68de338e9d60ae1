import { wrapWords } from './wrap-line.ts'

export type Row = readonly [left: string, right: string]

export interface ColumnsStyle {
  /** How wide the left column is. Default: as wide as its leftWidth. */
  readonly left?: number
  /** Columns that a line may take. */
  readonly most?: number | undefined
}

/** Two columns; the right one is broken where it gets long and goes on below itself, or stands below the left where there is no room beside it. */
export function columns(rows: readonly Row[], { left: width = leftWidth(rows), most = maxColumns }: ColumnsStyle = {}): readonly string[] {
  const beside = most - width - 4
  const isNarrow = beside < minRightWidth
  const indent = ' '.repeat(isNarrow ? narrowIndent : width + 4)
  return rows.flatMap(([left, right]) => {
    const lines = right.split('\n').flatMap((line) => wrapWords(line, isNarrow ? most - narrowIndent : beside))
    const [first = '', ...more] = isNarrow ? ['', ...lines] : lines
    return [`  ${left.padEnd(width)}  ${first}`.trimEnd(), ...more.map((line) => `${indent}${line}`.trimEnd())]
  })
}

/** How wide the left column must be. */
export const leftWidth = (rows: readonly Row[]): number => Math.max(0, ...rows.map(([left]) => left.length))

const maxColumns = 110
/** With less than this beside the left column, nobody could read it. */
const minRightWidth = 24
const narrowIndent = 6

export const paragraph = (text: string, maxWidth = maxColumns): readonly string[] => wrapWords(text, maxWidth)

/** What is told in columns on this window: no wider than it is, and not so wide that one loses the line. */
export const columnsOn = ({ columns: window }: { readonly columns: number | undefined }): number =>
  Math.min(maxColumns, (window ?? maxColumns + 1) - 1)
