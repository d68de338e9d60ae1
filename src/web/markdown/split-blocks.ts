// Markdown in blocks that are rendered one by one: a long answer that is being streamed renders only its last block again.

export interface Blocks {
  readonly text: string
  /** More text does not change them. */
  readonly done: readonly string[]
  /** Characters of `done`. */
  readonly length: number
  readonly open: string
}

export const noBlocks: Blocks = { text: '', done: [], length: 0, open: '' }

/** `known`: of an earlier state of the text. Only what comes after its complete blocks is read. */
export function splitBlocks(text: string, known: Blocks = noBlocks): Blocks {
  if (text === known.text) return known
  const { done: before, length: start } = text.startsWith(known.text.slice(0, known.length)) ? known : noBlocks
  const done = [...before]
  let from = start
  let block = newBlock()
  for (let at = start; at < text.length; ) {
    const end = text.indexOf('\n', at)
    const isComplete = end !== -1
    const line = text.slice(at, isComplete ? end : text.length)
    if (at > from && startsBlock(line, block, isComplete)) {
      done.push(text.slice(from, at))
      from = at
      block = newBlock()
    }
    readLine(line, block)
    at = isComplete ? end + 1 : text.length
  }
  return { text, done, length: from, open: text.slice(from) }
}

interface Block {
  isEmpty: boolean
  isList: boolean
  isPaused: boolean
  /** Nothing but a new block can follow: a heading, or code after its closing fence. */
  isClosed: boolean
  fence: string | undefined
}

const newBlock = (): Block => ({ isEmpty: true, isList: false, isPaused: false, isClosed: false, fence: undefined })

const fenceStart = /^\s*(`{3,}(?=[^`]*$)|~{3,})/
const listItem = /^\s*(?:[-*+]|\d{1,9}[.)])(?:\s|$)/
const rule = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/
const heading = /^ {0,3}#{1,6}(?:\s|$)/
/** The beginning of a line that may become the item of a list. */
const maybeItem = /^(?:\s.*|[-*+]|\d{1,9}[.)]?)?$/

function startsBlock(line: string, block: Block, isComplete: boolean): boolean {
  if (block.isEmpty || block.fence !== undefined || line.trim() === '') return false
  if (block.isClosed || heading.test(line)) return true
  const isInside = block.isList && /^(?: {2}|\t)/.test(line)
  if (isComplete && fenceStart.test(line) && !isInside) return true
  if (!block.isPaused) return false
  return !(
    isInside ||
    (block.isList && (isComplete ? listItem.test(line) && !rule.test(line) : listItem.test(line) || maybeItem.test(line)))
  )
}

function readLine(line: string, block: Block): void {
  const isBlank = line.trim() === ''
  if (block.fence !== undefined) {
    const mark = line.trim()
    if (mark.startsWith(block.fence) && mark === (mark[0] ?? '').repeat(mark.length)) {
      block.fence = undefined
      block.isClosed = !block.isList
    }
    return
  }
  if (isBlank) {
    block.isPaused = !block.isEmpty
    return
  }
  block.isPaused = false
  if (listItem.test(line) && !rule.test(line)) block.isList = true
  // The code of an item may begin behind its mark.
  block.fence = fenceStart.exec(line.replace(listItem, ''))?.[1]
  block.isClosed = block.isEmpty && (heading.test(line) || rule.test(line))
  block.isEmpty = false
}

/** The last block while it is streamed, without marks whose meaning is not clear yet: what is shown does not change its form. */
export function steadyEnd(open: string): string {
  const block = newBlock()
  for (const line of open.split('\n')) readLine(line, block)
  if (block.fence !== undefined) return open.replace(/\n[ \t]*[`~]{1,}$/, '')
  const cut = open.lastIndexOf('\n') + 1
  const before = open.slice(0, cut)
  const last = open.slice(cut)
  const header = before.split('\n').at(-2) ?? ''
  if (/^\s*\|/.test(last) && !/^\s*\|/.test(header)) return before + tableOf(last)
  if (/^\s*\|/.test(header) && /^[\s|:-]*$/.test(last) && !before.includes('|-') && !before.includes('| -'))
    return before.slice(0, before.length - header.length - 1) + tableOf(header)
  if (/^\s*(?:[-*+_=#>`~|:]+|\d{1,9}[.)]?)\s*$/.test(last)) return before.trimEnd()
  return before + closeMarks(last)
}

function tableOf(header: string): string {
  const columns = header
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|').length
  return `${header.trimEnd()}\n|${'---|'.repeat(columns)}`
}

function closeMarks(line: string): string {
  let text = line.replace(/!?\[([^\]]*)(?:\](?:\([^)\s]*)?)?$/, '$1')
  for (const mark of ['`', '**', '~~']) {
    if (text.split(mark).length % 2 === 1) continue
    text = text.trimEnd()
    text = text.endsWith(mark) ? text.slice(0, -mark.length) : `${text}${mark}`
    // Within code nothing else is a mark.
    if (mark === '`') break
  }
  return text
}
