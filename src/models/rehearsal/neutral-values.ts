import type { JsonSchema } from '../../contracts/index.ts'

// Values that carry no information, but fit a schema.

const formats = new Map([
  ['date', '1970-01-01'],
  ['date-time', '1970-01-01T00:00:00Z'],
  ['time', '00:00:00Z'],
  ['duration', 'PT0S'],
  ['email', 'nobody@example.com'],
  ['hostname', 'example.com'],
  ['ipv4', '0.0.0.0'],
  ['ipv6', '::'],
  ['uri', 'https://example.com/'],
  ['uri-reference', '/'],
  ['uuid', '00000000-0000-0000-0000-000000000000'],
])
const maxText = 100_000

/** Texts to try, the plainest first. */
export function neutralTexts({ minLength, format, pattern }: JsonSchema): readonly string[] {
  const least = typeof minLength === 'number' ? Math.min(minLength, maxText) : 0
  // How many repetitions beyond the shortest sample may be needed.
  const extras = [0, 1, 2, 3, 5, 8, 13, 30, ...(least > 0 ? [least - 1, least] : [])]
  const samples = typeof pattern === 'string' ? extras.flatMap((extra) => patternSample(pattern, extra) ?? []) : []
  const plain = least === 0 ? [''] : ['unknown'.padEnd(least, '.'), 'x'.repeat(least)]
  return [...(formats.has(String(format)) ? [formats.get(String(format)) ?? ''] : []), ...samples, ...plain]
}

/** Numbers to try, the plainest first. */
export function neutralNumbers(schema: JsonSchema): readonly number[] {
  const bounds = (...keywords: readonly string[]): readonly number[] =>
    keywords.map((keyword) => schema[keyword]).filter((bound): bound is number => typeof bound === 'number')
  const lows = bounds('minimum', 'exclusiveMinimum')
    .toSorted((a, b) => b - a)
    .slice(0, 1)
  const highs = bounds('maximum', 'exclusiveMaximum')
    .toSorted((a, b) => a - b)
    .slice(0, 1)
  const steps = bounds('multipleOf')
  return [
    0,
    ...steps.flatMap((step) => lows.flatMap((low) => [Math.ceil(low / step) * step, (Math.floor(low / step) + 1) * step])),
    ...steps.flatMap((step) => highs.flatMap((high) => [Math.floor(high / step) * step, (Math.ceil(high / step) - 1) * step])),
    ...lows.flatMap((low) => [low, Math.floor(low) + 1, Math.ceil(low)]),
    ...highs.flatMap((high) => [high, Math.ceil(high) - 1, Math.floor(high)]),
    ...lows.flatMap((low) => highs.flatMap((high) => [(low + high) / 2, low + (high - low) / 1000])),
    ...lows.map((low) => low + 0.5),
    ...highs.map((high) => high - 0.5),
    1,
    -1,
    0.5,
  ].map((each) => (Object.is(each, -0) ? 0 : each))
}

const maxPattern = 500
const maxRepetitions = 1000

/**
 * A text that a simple regular expression matches: literals, classes, groups and counts. It takes the first alternative and
 * leaves out what is optional; `extra` lengthens repetitions. `undefined` for anything more complex.
 */
export function patternSample(pattern: string, extra = 0): string | undefined {
  let rest = pattern.slice(0, maxPattern)
  const take = (token: RegExp): RegExpExecArray | null => {
    const match = token.exec(rest)
    rest = rest.slice(match?.[0].length ?? 0)
    return match
  }
  const alternatives = (): string | undefined => {
    const first = sequence()
    while (take(/^\|/)) sequence()
    return first
  }
  const sequence = (): string => {
    let text = ''
    for (let atom = readAtom(); atom !== undefined; atom = readAtom()) text += atom.repeat(Math.min(readCount(), maxRepetitions))
    return text
  }
  const readAtom = (): string | undefined => {
    if (take(/^(?:[\^$]|\\[bB])/)) return ''
    if (take(/^\((?:\?:|\?<\w+>|(?!\?))/)) {
      const text = alternatives()
      return take(/^\)/) ? text : undefined
    }
    const set = take(/^\[(\^?)((?:\\.|[^\\\]])*)\]/s)
    if (set) return classMember(set)
    const letter = take(/^(?:\\[dws\W_]|[^\\()[|])/s)?.[0]
    return letter === '.' ? 'a' : letter && unescaped(letter)
  }
  const readCount = (): number => {
    const count = take(/^(?:([?*+])|\{(\d+)(,?)(\d*)\})\??/)
    if (!count) return 1
    const [, sign, least, comma, most] = count
    if (sign !== undefined) return sign === '?' ? 0 : sign === '*' ? extra : 1 + extra
    return comma === '' ? Number(least) : Math.min(Number(least) + extra, most === '' ? Number.POSITIVE_INFINITY : Number(most))
  }
  try {
    const sample = alternatives()
    return rest === '' && sample !== undefined && new RegExp(pattern, 'u').test(sample) ? sample : undefined
  } catch {
    return undefined
  }
}

function classMember([whole, negation, members = '']: RegExpExecArray): string | undefined {
  if (negation === '') return unescaped(/^(?:\\.|.)/s.exec(members)?.[0] ?? '')
  return [...'a0 -A~'].find((letter) => new RegExp(whole, 'u').test(letter))
}

const escapes: { readonly [code: string]: string } = { '\\d': '0', '\\w': 'a', '\\s': ' ' }
const unescaped = (text: string): string => escapes[text] ?? text.replace(/^\\/, '')
