import type { JsonSchema } from '../../contracts/index.ts'
import { patternSample } from './pattern-sample.ts'

// Values that say nothing, but fit.

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

/** Texts to try, the plainest first. */
export function neutralTexts(schema: JsonSchema): readonly string[] {
  const least = typeof schema.minLength === 'number' ? Math.min(schema.minLength, longestText) : 0
  const format = typeof schema.format === 'string' ? formats.get(schema.format) : undefined
  const { pattern } = schema
  const samples = typeof pattern === 'string' ? lengthenings(least).flatMap((extra) => patternSample(pattern, extra) ?? []) : []
  const plain = least === 0 ? [''] : ['unknown'.length >= least ? 'unknown' : 'unknown'.padEnd(least, '.'), 'x'.repeat(least)]
  return [...(format === undefined ? [] : [format]), ...samples, ...plain]
}
const longestText = 100_000

/** How much longer than the shortest a sample may have to be. */
const lengthenings = (least: number): readonly number[] => [0, 1, 2, 3, 5, 8, 13, 30, ...(least > 0 ? [least - 1, least] : [])]

/** Numbers to try, the plainest first. */
export function neutralNumbers(schema: JsonSchema): readonly number[] {
  const bound = (keyword: string): number | undefined => (typeof schema[keyword] === 'number' ? (schema[keyword] as number) : undefined)
  const lows = [bound('minimum'), bound('exclusiveMinimum')].filter((each) => each !== undefined)
  const highs = [bound('maximum'), bound('exclusiveMaximum')].filter((each) => each !== undefined)
  const low = lows.length > 0 ? Math.max(...lows) : undefined
  const high = highs.length > 0 ? Math.min(...highs) : undefined
  const around = [
    ...(low === undefined ? [] : [low, Math.floor(low) + 1, Math.ceil(low)]),
    ...(high === undefined ? [] : [high, Math.ceil(high) - 1, Math.floor(high)]),
  ]
  const middle = low !== undefined && high !== undefined ? [(low + high) / 2, low + (high - low) / 1000] : []
  const loose = [...(low === undefined ? [] : [low + 0.5]), ...(high === undefined ? [] : [high - 0.5])]
  const step = bound('multipleOf')
  const stepped = step === undefined || low === undefined ? [] : [Math.ceil(low / step) * step, (Math.floor(low / step) + 1) * step]
  const below = step === undefined || high === undefined ? [] : [Math.floor(high / step) * step, (Math.ceil(high / step) - 1) * step]
  return [0, ...stepped, ...below, ...around, ...middle, ...loose, 1, -1, 0.5].map((each) => (Object.is(each, -0) ? 0 : each))
}
