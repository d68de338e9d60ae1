/**
 * The blocks of a Markdown text, line by line, in linear time. It knows what models write: headings, lists, fenced code, tables,
 * quotes and rules. Any other line is a paragraph: line breaks in an answer are meant. An unclosed fence runs to the end of the text, so a text that still arrives has blocks too.
 */
export type Block =
  | { readonly kind: 'paragraph'; readonly indent: number; readonly text: string }
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'item'; readonly indent: number; readonly marker: string; readonly text: string }
  | { readonly kind: 'quote'; readonly text: string }
  | { readonly kind: 'code'; readonly lines: readonly string[] }
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: 'rule' }
  | { readonly kind: 'blank' }

export function blocksOf(text: string): readonly Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  for (let i = 0; i < lines.length; ) {
    const [block, taken] = blockAt(lines, i)
    blocks.push(block)
    i += taken
  }
  return blocks
}

/** The block that begins at a line, and how many lines it takes. */
function blockAt(lines: readonly string[], at: number): readonly [block: Block, taken: number] {
  const line = lines[at] ?? ''
  if (line.trim() === '') return [{ kind: 'blank' }, 1]
  const fence = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1]
  if (fence !== undefined) return codeAt(lines, at, fence)
  if (line.includes('|') && isDivider(lines[at + 1] ?? '')) return tableAt(lines, at)
  const heading = /^ {0,3}(#{1,6})\s+(.*)$/.exec(line)
  if (heading) return [{ kind: 'heading', level: heading[1]?.length ?? 1, text: (heading[2] ?? '').replace(/\s#+\s*$/, '') }, 1]
  if (/^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/.test(line)) return [{ kind: 'rule' }, 1]
  const quote = /^ {0,3}> ?(.*)$/.exec(line)
  if (quote) return [{ kind: 'quote', text: quote[1] ?? '' }, 1]
  const item = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/.exec(line)
  if (item) return [{ kind: 'item', indent: item[1]?.length ?? 0, marker: item[2] ?? '', text: item[3] ?? '' }, 1]
  return [{ kind: 'paragraph', indent: line.length - line.trimStart().length, text: line.trim() }, 1]
}

function codeAt(lines: readonly string[], at: number, fence: string): readonly [Block, number] {
  const isEnd = (line: string): boolean => {
    const mark = line.trim()
    return mark.length >= fence.length && mark === fence.charAt(0).repeat(mark.length)
  }
  let to = at + 1
  while (to < lines.length && !isEnd(lines[to] ?? '')) to++
  return [{ kind: 'code', lines: lines.slice(at + 1, to) }, to - at + (to === lines.length ? 0 : 1)]
}

const isDivider = (line: string): boolean => line.includes('-') && /^[\s|:-]+$/.test(line) && line.includes('|')

function tableAt(lines: readonly string[], at: number): readonly [Block, number] {
  let end = at + 2
  while (end < lines.length && lines[end]?.includes('|')) end++
  const rows = [lines[at] ?? '', ...lines.slice(at + 2, end)].map(cellsOf)
  return [{ kind: 'table', rows }, end - at]
}

const cellsOf = (line: string): readonly string[] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim())
