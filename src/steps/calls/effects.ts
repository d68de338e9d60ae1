import type { BlobId, CallResult, Carried, Effect, EffectBundle, MaybePromise, Message } from '../../contracts/index.ts'
import { shortHash } from '../../util/hash.ts'
import { parseJsonObject } from '../../util/json-object.ts'
import { cutText } from '../../util/well-formed.ts'
import { effectLines } from '../context/compaction-texts.ts'

const maxInputChars = 160
const maxResultChars = 80
/** Of one value of an input that is too long as a whole. */
const maxValueChars = 60
const maxPaths = 8

/** The calls of a history that may have changed something, a line for each: what was called, with what, and what came of it. */
export function effectsIn(messages: readonly Message[], effectOf: (tool: string) => Effect): readonly string[] {
  return messages.flatMap((message, index) => {
    if (message.role !== 'assistant') return []
    const next = messages[index + 1]
    const results = next?.role === 'tool' ? next.results : []
    return message.parts.flatMap((part) => {
      if (part.type !== 'call' || effectOf(part.name) === 'read') return []
      const result = results.find(({ id }) => id === part.id)
      return [`- ${part.name} ${describeInput(part.input)}: ${describeResult(result)}`]
    })
  })
}

/**
 * An input, or what it was about: the beginning of each of its values, the files that a patch names, and a fingerprint, so
 * that two different calls are never told alike.
 */
function describeInput(input: string): string {
  const whole = oneLine(input)
  if (whole.length <= maxInputChars) return whole
  const object = parseJsonObject(input)
  const values = Object.entries(object ?? {}).map(([key, value]) => [key, typeof value === 'string' ? cut(value, maxValueChars) : value])
  const shown = object ? cut(oneLine(JSON.stringify(Object.fromEntries(values))), maxInputChars) : cut(whole, maxInputChars)
  const paths = pathsIn(object ?? {}).filter((path) => !shown.includes(path))
  const named = paths.length === 0 ? '' : ` ${[...paths.slice(0, maxPaths), ...(paths.length > maxPaths ? ['…'] : [])].join(' ')}`
  return `${shown}${named} #${shortHash(input)}`
}

/** The files of a patch, and values that stand too far behind to be shown. */
function pathsIn(object: object): readonly string[] {
  const texts = Object.values(object).filter((value): value is string => typeof value === 'string')
  const patched = texts.flatMap((text) => [
    ...text.matchAll(/^(?:\*\*\* (?:Add|Update|Delete) File:|\*\*\* Move to:|\+\+\+) (.{1,200})$/gm),
  ])
  const named = Object.entries(object).flatMap(([key, value]) =>
    isPathKey.test(key) && typeof value === 'string' ? [cut(value, 200)] : [],
  )
  return [...new Set([...named, ...patched.map(([, path = '']) => path.trim())])]
}

const isPathKey = /path|file|url|cwd|target/i

function describeResult(result: CallResult | undefined): string {
  if (!result) return 'no result'
  return `${result.ok ? 'ok' : 'failed'}, ${cut(result.content.split('\n', 1)[0] ?? '', maxResultChars)}`
}

const oneLine = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ')
const cut = (text: string, most: number): string => (text.length > most ? `${cutText(text, most)}…` : text)

/** Where lines are kept that there is no room for. */
export interface LineStore {
  put(text: string): MaybePromise<BlobId>
  get(handle: BlobId): MaybePromise<string | undefined>
}

/** Calls that may have changed something: older ones in bundles, then the newest, a line for each. */
export type Effects = Pick<Carried, 'bundles' | 'lines'>

/**
 * Of a list that is too long the oldest are kept elsewhere, in bundles of which each is at least twice as large as the
 * next: so there are only ever a few, and every line is moved a few times at the most.
 */
export async function fitEffects(effects: Effects, room: number, store: LineStore): Promise<Effects> {
  const { bundles, lines } = effects
  let left = sizeOf(lines)
  if (sizeOf(effectLines(effects)) <= room || left <= room / 2) return effects
  let first = 0
  for (; left > room / 2; first++) left -= (lines[first]?.length ?? 0) + 1
  const bundle = { count: first, handle: await store.put(lines.slice(0, first).join('\n')) }
  return { bundles: await mergeBundles([...bundles, bundle], store), lines: lines.slice(first) }
}

async function mergeBundles(bundles: readonly EffectBundle[], store: LineStore): Promise<readonly EffectBundle[]> {
  const [older, newer] = bundles.slice(-2)
  if (!older || !newer || older.count >= 2 * newer.count) return bundles
  const texts = [await store.get(older.handle), await store.get(newer.handle)]
  if (texts.includes(undefined)) return bundles
  const both = { count: older.count + newer.count, handle: await store.put(texts.join('\n')) }
  return mergeBundles([...bundles.slice(0, -2), both], store)
}

const sizeOf = (lines: readonly string[]): number => lines.reduce((sum, line) => sum + line.length + 1, 0)
