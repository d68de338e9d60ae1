export type Row = readonly [left: string, right: string]

/** Two columns, the left one as wide as its widest; the right one is broken where it gets long and goes on below itself. */
export function columns(rows: readonly Row[], width = widest(rows)): readonly string[] {
  return rows.flatMap(([left, right]) => {
    const [first = '', ...more] = right.split('\n').flatMap((line) => wrapped(line, mostColumns - width - 4))
    return [`  ${left.padEnd(width)}  ${first}`.trimEnd(), ...more.map((line) => `${' '.repeat(width + 4)}${line}`)]
  })
}

/** How wide the left column must be. */
export const widest = (rows: readonly Row[]): number => Math.max(0, ...rows.map(([left]) => left.length))

const mostColumns = 110

/** Text in lines that are not too long. */
export const paragraph = (text: string): readonly string[] => wrapped(text, mostColumns)

function wrapped(text: string, most: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > most) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
