import { type Definitions, definitionsIn, withDefinitions } from './definitions.ts'
import { isSimple } from './is-simple.ts'
import { markdownHtml, tagsIn } from './markdown-html.ts'
import { type Blocks, noBlocks, splitBlocks, steadyEnd } from './split-blocks.ts'
import { hasTime, timed } from './work-budget.ts'

// A text as HTML, block by block.
//
// 1. A block is formatted once. Those that are complete stay as they are while the text grows.
// 2. A block without time has the HTML of its earlier text, or is plain text with all that follows, until there is time.
// 3. A text has at most `maxTags` tags. What follows is plain text until a person asks for more.

/** Characters that are formatted at most. */
const longestMarkdown = 200_000
/** For the first part of a text, and for each further one that a person asks for. */
export const tagsAtOnce = 10_000

/** What a block is formatted from. */
interface Source {
  readonly own: string
  /** More text comes. */
  readonly isOpen: boolean
  readonly definitions: Definitions
}

interface FormattedBlock {
  readonly of: Source
  /** What was formatted: with the definitions that it uses. */
  readonly text: string
  /** `undefined`: too costly, its own text is shown. */
  readonly html: string | undefined
  readonly tags: number
}

export interface FormattedText {
  readonly split: Blocks
  readonly definitions: Definitions
  readonly blocks: readonly FormattedBlock[]
  /** The text after the blocks. */
  readonly rest: string
  /** `waits`: for time. `cut`: the rest has too many tags. `long`: it has too many characters. */
  readonly state: 'complete' | 'waits' | 'cut' | 'long'
}

interface FormatOptions {
  /** More text comes. */
  readonly isOpen: boolean
  readonly maxTags: number
  sanitise(html: string): string
}

const nothing: FormattedText = { split: noBlocks, definitions: new Map(), blocks: [], rest: '', state: 'complete' }

/** `known`: the result for an earlier state of the text. */
export function formatText(text: string, { isOpen, maxTags, sanitise }: FormatOptions, known = nothing): FormattedText {
  const head = text.slice(0, longestMarkdown)
  const split = splitBlocks(head, known.split)
  const sources = head.length === text.length && split.open !== '' ? [...split.done, split.open] : split.done
  const definitions = split === known.split ? known.definitions : definitionsIn(head, known.definitions)
  const blocks: FormattedBlock[] = []
  let waits = false
  let end = 0
  let tags = 0
  while (tags <= maxTags && blocks.length < sources.length) {
    const own = sources[blocks.length] ?? ''
    const of = { own, isOpen: isOpen && blocks.length === split.done.length, definitions }
    const before = known.blocks[blocks.length]
    const block = (before && isSame(before.of, of)) || !hasTime() ? before : timed(() => formatBlock(of, before, sanitise))
    waits ||= !block || !isSame(block.of, of)
    if (!block) break
    blocks.push(block)
    end += own.length
    tags += block.tags
  }
  const rest = text.slice(end)
  const state = waits ? 'waits' : rest === '' ? 'complete' : blocks.length < sources.length ? 'cut' : 'long'
  return { split, definitions, blocks, rest, state }
}

const isSame = (one: Source, other: Source): boolean =>
  one.own === other.own && one.isOpen === other.isOpen && one.definitions === other.definitions

function formatBlock(of: Source, before: FormattedBlock | undefined, sanitise: FormatOptions['sanitise']): FormattedBlock {
  const text = withDefinitions(of.isOpen && isSimple(of.own) ? steadyEnd(of.own) : of.own, of.definitions)
  if (before?.text === text) return { ...before, of }
  const html = markdownHtml(text)
  return html === undefined ? { of, text, html, tags: 1 } : { of, text, html: sanitise(html), tags: tagsIn(html) }
}
