import type { Paint, Shade } from '../paint.ts'
import { charactersOf, widthOf } from '../text-width.ts'

/** A piece of text in one style. */
export interface Span {
  readonly text: string
  readonly shades: readonly Shade[]
}

/** Bounds each pattern, so that a long text of opening marks takes linear time. */
const maxSpanLength = 1_000
const inside = (excluded: string): string => `(?=[^\\s${excluded}])([^${excluded}\\n]{0,${maxSpanLength}}[^\\s${excluded}])`

const marks = new RegExp(
  [
    `\`([^\`\\n]{1,${maxSpanLength}})\``,
    `\\*\\*${inside('*')}\\*\\*`,
    `(?<!\\w)__${inside('_')}__(?!\\w)`,
    `(?<!\\*)\\*${inside('*')}\\*(?!\\*)`,
    `(?<!\\w)_${inside('_')}_(?!\\w)`,
    `\\[([^\\[\\]\\n]{1,${maxSpanLength}})\\]\\(([^()\\s]{1,${maxSpanLength}})\\)`,
    '\\\\([!-/:-@\\[-`{-~])',
  ].join('|'),
  'g',
)

/** The styles within a line of Markdown: bold, italic, code and links. Marks without an end are text. */
export function spansOf(text: string, shades: readonly Shade[] = []): readonly Span[] {
  const spans: Span[] = []
  let end = 0
  for (const match of text.matchAll(marks)) {
    const [whole, code, bold, bold2, italic, italic2, label, address, escaped] = match
    if (match.index > end) spans.push({ text: text.slice(end, match.index), shades })
    end = match.index + whole.length
    const strong = bold ?? bold2
    const slanted = italic ?? italic2
    if (code !== undefined) spans.push({ text: code, shades: [...shades, 'cyan'] })
    else if (strong !== undefined) spans.push(...spansOf(strong, [...shades, 'bold']))
    else if (slanted !== undefined) spans.push(...spansOf(slanted, [...shades, 'italic']))
    else if (label !== undefined && address !== undefined)
      spans.push(
        ...spansOf(label, [...shades, 'underline']),
        ...(label === address ? [] : [{ text: ` (${address})`, shades: ['dim'] as const }]),
      )
    else spans.push({ text: escaped ?? '', shades })
  }
  return end < text.length ? [...spans, { text: text.slice(end), shades }] : spans
}

export const paintSpans = (spans: readonly Span[], paint: Paint): string =>
  spans.map(({ text, shades }) => shades.reduce((shown, shade) => paint(shade, shown), text)).join('')

export const spansWidth = (spans: readonly Span[]): number => spans.reduce((sum, { text }) => sum + widthOf(text), 0)

/** Lines of at most `width` columns, broken between words; a word that is too long is broken anywhere. */
export function wrapSpans(spans: readonly Span[], width: number): readonly (readonly Span[])[] {
  const lines: Span[][] = []
  let line: Span[] = []
  let used = 0
  const next = (): void => {
    lines.push(line)
    line = []
    used = 0
  }
  const add = (span: Span): void => {
    const last = line.at(-1)
    if (last?.shades === span.shades) line[line.length - 1] = { text: last.text + span.text, shades: span.shades }
    else line.push(span)
    used += widthOf(span.text)
  }
  for (const { space, word } of wordsOf(spans)) {
    const size = spansWidth(word)
    const gap = used > 0 && space ? 1 : 0
    if (used > 0 && used + gap + size > width) next()
    else if (gap > 0 && space) add({ text: ' ', shades: space })
    for (const span of size > width ? word.flatMap(lettersOf) : word) {
      if (used > 0 && used + widthOf(span.text) > width) next()
      add(span)
    }
  }
  return line.length > 0 || lines.length === 0 ? [...lines, line] : lines
}

const lettersOf = ({ text, shades }: Span): readonly Span[] => [...charactersOf(text)].map((letter) => ({ text: letter, shades }))

interface Word {
  /** The style of the white space before it, if there is any. */
  readonly space: readonly Shade[] | undefined
  readonly word: readonly Span[]
}

/** A word may change its style in the middle. */
function wordsOf(spans: readonly Span[]): readonly Word[] {
  const words: { space: readonly Shade[] | undefined; word: Span[] }[] = []
  let space: readonly Shade[] | undefined
  for (const { text, shades } of spans) {
    for (const piece of text.match(/\s+|\S+/g) ?? []) {
      const last = words.at(-1)
      if (piece.trim() === '') space = shades
      else if (last && space === undefined) last.word.push({ text: piece, shades })
      else {
        words.push({ space, word: [{ text: piece, shades }] })
        space = undefined
      }
    }
  }
  return words
}
