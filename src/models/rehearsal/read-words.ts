import { stem } from '../../util/stem.ts'

type WordKind = 'quote' | 'url' | 'email' | 'date' | 'time' | 'path' | 'number' | 'word' | 'mark'

/** A word of a text. Of a quotation, `text` is the part inside the quotes. */
export interface Word {
  readonly kind: WordKind
  readonly text: string
  readonly lower: string
  readonly stem: string
  readonly start: number
  readonly end: number
}

const extensions =
  'bash|c|cpp|css|csv|docx?|go|html?|java|jpe?g|js|json|jsx|lock|log|md|mjs|pdf|php|png|py|rb|rs|sh|sql|svg|toml|ts|tsx|txt|xlsx?|xml|ya?ml|zip'

// Every repetition is bounded, or covers characters that no later alternative can match: reading takes linear time.
const shapes: { readonly [K in WordKind]: string } = {
  quote: '`[^`\\n]{1,2000}`|(?<![\\p{L}\\p{N}])"[^"]{1,4000}"|“[^”]{1,4000}”|(?<![\\p{L}\\p{N}])\'[^\'\\n]{1,400}\'(?![\\p{L}\\p{N}])',
  url: 'https?://[^\\s<>"\'`)\\]]{1,2000}',
  email: '[\\p{L}\\p{N}_.+-]{1,64}@[\\p{L}\\p{N}-]{1,63}(?:\\.[\\p{L}\\p{N}-]{1,63}){1,5}',
  date: '\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2})?(?:Z|[+-]\\d{2}:\\d{2})?)?(?![\\p{L}\\p{N}])',
  time: '\\d{1,2}:\\d{2}(?:\\s?[ap]m)?(?![\\p{L}\\p{N}:])|\\d{1,2}\\s?[ap]m(?![\\p{L}\\p{N}])',
  path: [
    '(?<![\\p{L}\\p{N}])(?:~|\\.{1,2})?(?:/[\\w.@*+-]{1,100}){1,30}/?',
    '[\\w@*][\\w@*.-]{0,100}(?:/[\\w.@*+-]{1,100}){1,30}/?',
    `[\\w*][\\w*-]{0,100}(?:\\.[\\w*-]{1,40}){0,4}\\.(?:${extensions})(?![\\w/])`,
    '\\*\\.\\w{1,8}',
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

/** A longer text is read only at its beginning. */
const maxRead = 8_000

export function readWords(text: string): readonly Word[] {
  return [...text.slice(0, maxRead).matchAll(pattern)].map((match) => {
    const kind = (Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined)?.[0] ?? 'mark') as WordKind
    const [whole] = match
    // The full stop of a sentence belongs to no path or address.
    const found = kind === 'url' || kind === 'path' ? whole.replace(/(?<=.)[.,;:!?]+$/, '') : whole
    const inside = kind === 'quote' ? found.slice(1, -1) : found
    const lower = inside.toLowerCase()
    return { kind, text: inside, lower, stem: kind === 'word' ? stem(lower) : lower, start: match.index, end: match.index + found.length }
  })
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

/** A text on one line, cut to a length. */
export function clip(text: string, max: number): string {
  const flat = text.slice(0, max * 2).replaceAll(/\s+/g, ' ').trim() // biome-ignore format: one line
  return flat.length <= max
    ? flat
    : `${flat
        .slice(0, max)
        .replace(/[\ud800-\udbff]$/, '')
        .trimEnd()} …`
}

const numberWords = new Map('two three four five six seven eight nine ten eleven twelve'.split(' ').map((word, at) => [word, at + 2]))

export function numberOf({ kind, text, lower }: Word): number | undefined {
  return kind === 'number' ? Number(text.replaceAll(',', '').replace('−', '-')) : numberWords.get(lower)
}

const days = new Set('monday tuesday wednesday thursday friday saturday sunday today tomorrow tonight yesterday'.split(' '))
const months = 'january february march april may june july august september october november december'.split(' ')
const monthOf = (word = ''): number => (word.length < 3 ? 0 : months.findIndex((month) => month === word || month.slice(0, 3) === word) + 1)

/** How many words from `at` on name a day: "next Friday", "3 March 2026", "May 5, 2026". 0 if they do not. */
export function dateLength(words: readonly Word[], at: number): number {
  const lower = (offset: number): string => words[at + offset]?.lower ?? ''
  const isYear = (offset: number): boolean => /^\d{4}$/.test(lower(offset))
  if (words[at]?.kind === 'date' || days.has(lower(0))) return 1
  if (['next', 'this', 'last'].includes(lower(0)) && (days.has(lower(1)) || /^(?:week|weekend|month|year)$/.test(lower(1)))) return 2
  if (/^\d{1,2}$/.test(lower(0)) && monthOf(lower(1)) > 0) return isYear(2) ? 3 : 2
  if (monthOf(lower(0)) === 0 || !/^\d{1,2}$/.test(lower(1))) return 0
  const year = lower(2) === ',' ? 3 : 2
  return isYear(year) ? year + 1 : 2
}

/** The form 2026-03-01, if the text has a day, a month and a year: there is no calendar to look "tomorrow" up in. */
export function isoDate(text: string): string | undefined {
  if (/^\d{4}-\d{2}-\d{2}/.test(text)) return text.slice(0, 10)
  const month = monthOf(/\p{L}+/u.exec(text)?.[0].toLowerCase())
  const year = /\b\d{4}\b/.exec(text)?.[0]
  const day = /\b\d{1,2}\b/.exec(text)?.[0]
  return month > 0 && year && day ? `${year}-${String(month).padStart(2, '0')}-${day.padStart(2, '0')}` : undefined
}
