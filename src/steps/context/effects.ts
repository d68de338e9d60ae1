import type { BlobId, CallResult, Carried, Effect, EffectBundle, MaybePromise, Message } from '../../contracts/index.ts'
import { shortHash } from '../../util/hash.ts'
import { parseJsonObject } from '../../util/json-values.ts'
import { cutText } from '../../util/well-formed.ts'
import { effectLines } from './compaction-texts.ts'

const maxInputChars = 160
const maxResultChars = 80
/** For one value of a long input. */
const maxValueChars = 60
const maxPaths = 8

/** One line for each call that may have changed something: tool, input and result. */
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

/** A long input is cut: the start of each value, the paths in a patch, and a hash that keeps different calls apart. */
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

/** Files of a patch, and values of path-like keys. */
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
const cut = (text: string, max: number): string => (text.length > max ? `${cutText(text, max)}…` : text)

interface LineStore {
  put(text: string): MaybePromise<BlobId>
  get(handle: BlobId): MaybePromise<string | undefined>
}

/** Calls that may have changed something: older ones in stored bundles, the newest as lines. */
export type Effects = Pick<Carried, 'bundles' | 'lines'>

/** Moves the oldest lines of a long list to stored bundles. Each bundle is at least twice as large as the next: there are few. */
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
