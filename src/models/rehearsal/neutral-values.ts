import type { JsonSchema } from '../../contracts/index.ts'
import { fitsNumber, fitsText } from './conforms.ts'

// Values that carry no information, but fit the bounds of a schema.

const formats = new Map([
  ['date', '1970-01-01'],
  ['date-time', '1970-01-01T00:00:00Z'],
  ['time', '00:00:00Z'],
  ['email', 'nobody@example.com'],
  ['uri', 'https://example.com/'],
  ['uuid', '00000000-0000-0000-0000-000000000000'],
])
const maxText = 100_000

/** The first that fits of: a sample of the format, a sample of the pattern, a plain text of the least length. */
export function neutralText(schema: JsonSchema): string {
  const { minLength, format, pattern } = schema
  const least = typeof minLength === 'number' ? Math.min(minLength, maxText) : 0
  const plain = least === 0 ? '' : 'unknown'.padEnd(least, '.')
  const samples = [formats.get(String(format)), typeof pattern === 'string' ? patternSample(pattern) : undefined, plain]
  return samples.find((each) => each !== undefined && fitsText(each, schema)) ?? 'x'.repeat(least)
}

/** Zero, or else a number near a bound. */
export function neutralNumber(schema: JsonSchema): number {
  const bound = (keyword: string, otherwise: number): number => (typeof schema[keyword] === 'number' ? schema[keyword] : otherwise)
  const low = Math.max(bound('minimum', Number.NEGATIVE_INFINITY), bound('exclusiveMinimum', Number.NEGATIVE_INFINITY))
  const high = Math.min(bound('maximum', Number.POSITIVE_INFINITY), bound('exclusiveMaximum', Number.POSITIVE_INFINITY))
  const near = [0, Math.ceil(low), Math.floor(low) + 1, Math.floor(high), Math.ceil(high) - 1]
  const found = [...near, ...(schema.type === 'integer' ? [] : [low, high, (low + high) / 2])].find(
    (each) => Number.isFinite(each) && fitsNumber(each, schema),
  )
  return found === undefined || Object.is(found, -0) ? 0 : found
}

/** One character of a simple pattern (an escape, a class or a literal) and its count. */
const patternPart = /(?:\\(.)|\[([^\]\\^])[^\]]*\]|([^\\^$()|[\]{}?*+]))(?:\{(\d+)[\d,]*\}|([?*+]))?/gs
const escapes: { readonly [code: string]: string } = { d: '0', w: 'a', s: ' ' }

/** A text for a pattern of literals, classes and counts, such as `^[A-Z]{2}-\d{3}$`. It does not fit other patterns. */
function patternSample(pattern: string): string {
  const parts = pattern.slice(0, 500).matchAll(patternPart)
  return [...parts].map(sampleOf).join('')
}

function sampleOf([, escaped = '', member, literal, count = '1', sign]: RegExpExecArray): string {
  const letter = member ?? literal ?? escapes[escaped] ?? escaped
  return letter.repeat(sign === '?' || sign === '*' ? 0 : Math.min(Number(count), 1000))
}
