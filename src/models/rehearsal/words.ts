import { stem } from '../../util/stem.ts'

type WordKind = 'quote' | 'url' | 'email' | 'date' | 'time' | 'path' | 'number' | 'word' | 'mark'

/** A word of a text with its position. Of a quotation, `text` is the part inside the quotes. */
export interface Word {
  readonly kind: WordKind
  readonly text: string
  readonly lower: string
  readonly stem: string
  readonly start: number
  readonly end: number
  /** A line ends somewhere between the word before and this one. */
  readonly startsLine: boolean
}

export const sentenceEnds = new Set(['.', '?', '!', ';'])

const extensions =
  'bash|c|cc|cfg|conf|cpp|cs|css|csv|docx?|env|gif|go|h|hpp|html?|ini|ipynb|java|jpe?g|js|json|jsonl|jsx|kt|lock|log|lua|md|mdx|mjs|odt|pdf|php|png|pptx?|py|rb|rs|sh|sql|svg|swift|toml|ts|tsv|tsx|txt|vue|webp|xlsx?|xml|ya?ml|zip'

// Every repetition is bounded, or covers characters that no later alternative can match: reading takes linear time.
const shapes: { readonly [K in WordKind]: string } = {
  quote: [
    '```(?:[a-z]*\\n)?[^`]{1,8000}```',
    '`[^`\\n]{1,2000}`',
    '(?<![\\p{L}\\p{N}])"[^"]{1,4000}"',
    '“[^”]{1,4000}”',
    '«[^»]{1,4000}»',
    "(?<![\\p{L}\\p{N}])['‘][^'’\\n]{1,400}['’](?![\\p{L}\\p{N}])",
  ].join('|'),
  url: 'https?://[^\\s<>"\'`)\\]]{1,2000}',
  email: '[\\p{L}\\p{N}_.+-]{1,64}@[\\p{L}\\p{N}-]{1,63}(?:\\.[\\p{L}\\p{N}-]{1,63}){1,5}',
  date: '\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2})?(?:Z|[+-]\\d{2}:\\d{2})?)?(?![\\p{L}\\p{N}])',
  time: '\\d{1,2}:\\d{2}(?:\\s?[ap]m)?(?![\\p{L}\\p{N}:])|\\d{1,2}\\s?[ap]m(?![\\p{L}\\p{N}])',
  path: [
    '(?<![\\p{L}\\p{N}])(?:~|\\.{1,2})?(?:/[\\w.@*+-]{1,100}){1,30}/?',
    '[\\w@*][\\w@*.-]{0,100}(?:/[\\w.@*+-]{1,100}){1,30}/?',
    `[\\w*][\\w*-]{0,100}(?:\\.[\\w*-]{1,40}){0,4}\\.(?:${extensions})(?![\\w/])`,
    '\\*\\.\\w{1,8}',
    '(?<![\\p{L}\\p{N}.)])\\.[a-z][\\w.-]{1,40}',
  ].join('|'),
  number: '(?<![\\p{L}\\p{N}])[-−]?(?:\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.\\d+)?',
  word: "[\\p{L}\\p{M}\\p{N}_]+(?:['’][\\p{L}]+)*(?:-[\\p{L}\\p{N}]+)*",
  mark: '[^\\s]',
}
const pattern = new RegExp(
  Object.entries(shapes)
    .map(([kind, shape]) => `(?<${kind}>${shape})`)
    .join('|'),
  'giu',
)

/** A longer text is an attachment: the request is at its beginning or at its end. */
const maxRead = 12_000
const endRead = 3_000

export function readWords(whole: string): readonly Word[] {
  if (whole.length <= maxRead) return wordsIn(whole, 0)
  const tail = whole.length - endRead
  return [...wordsIn(whole.slice(0, maxRead - endRead), 0), ...wordsIn(whole.slice(tail), tail)]
}

function wordsIn(text: string, offset: number): readonly Word[] {
  const words: Word[] = []
  let end = 0
  for (const match of text.matchAll(pattern)) {
    const start = match.index
    const word = wordOf(match)
    // Of a trimmed address or path only the stop that ends the sentence is lost, and that is put back as a mark.
    words.push({ ...word, start: start + offset, end: start + offset + word.length, startsLine: text.slice(end, start).includes('\n') })
    end = start + match[0].length
    if (word.length < match[0].length) words.push(markOf(text[start + word.length] ?? '.', start + offset + word.length))
  }
  return words
}

function markOf(text: string, start: number): Word {
  return { kind: 'mark', text, lower: text, stem: text, start, end: start + 1, startsLine: false }
}

function wordOf(match: RegExpMatchArray): Omit<Word, 'start' | 'end' | 'startsLine'> & { readonly length: number } {
  const found = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)
  const whole = match[0]
  const kind = (found?.[0] ?? 'mark') as WordKind
  if (kind === 'quote') return { ...textual(kind, inside(whole)), length: whole.length }
  if (kind === 'url' || kind === 'path') {
    const trimmed = whole.replace(/[.,;:!?]+$/, '') || whole
    const isPath = kind === 'url' || !notPaths.test(trimmed)
    return { ...textual(isPath ? kind : 'word', trimmed), length: trimmed.length }
  }
  return { ...textual(kind, whole), length: whole.length }
}

const notPaths = /^(?:\d[\d./]*|and\/or|km\/h|m\/s|tcp\/ip|his\/her|he\/she|yes\/no|either\/or|w\/o|n\/a|a\/c|24\/7)$/i

function inside(quote: string): string {
  if (quote.startsWith('```')) return quote.slice(3, -3).replace(/^[a-z]*\n/, '')
  return quote.slice(1, -1)
}

function textual(kind: WordKind, text: string) {
  const lower = text.toLowerCase()
  return { kind, text, lower, stem: kind === 'word' ? stem(lower) : lower }
}

/** The words of an identifier: `lookUpWeather`, `look_up_weather` and `look.up-weather` have the same three. */
export function nameWords(name: string): readonly string[] {
  return name
    .slice(0, 200)
    .replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

/** A text cut to a length, at a word where that is near. */
export function clip(text: string, max: number): string {
  const flat = text
    .slice(0, max * 4 + 100)
    .replaceAll(/\s+/g, ' ')
    .trim()
  if (flat.length <= max) return flat
  const cut = flat.slice(0, max)
  const space = cut.lastIndexOf(' ')
  return `${(space > max * 0.6 ? cut.slice(0, space) : cut).replace(/[\s,;:.–-]+$/, '').replace(/[\ud800-\udbff]$/, '')} …`
}
