import type { Json, JsonObject } from '../contracts/index.ts'
import { RedactionStream } from './redact-stream.ts'
import { secretEncodings } from './secret-encodings.ts'
import { shortestToken, tokensIn } from './troupe-tokens.ts'
import { wellFormed } from './well-formed.ts'

export interface Redactor {
  /** Also makes the text well formed. */
  text(text: string): string
  /** Redacts values and keys. Returns the same object if nothing was redacted. */
  json(value: Json): Json
  /** For a text in pieces. */
  stream(): RedactionStream
}

/**
 * Redacts the values of secret variables in all encodings: plain, base64, URL, JSON. Tokens of Troupe are redacted by their form, too.
 * `redactor({ GITHUB_TOKEN: 'ghp_x1y2z3' }).text('use ghp_x1y2z3')` is `use [redacted:GITHUB_TOKEN]`.
 */
export function redactor(...overlays: readonly { readonly [name: string]: string }[]): Redactor {
  const secrets = new Map<string, string>()
  for (const overlay of overlays) {
    for (const name of Object.keys(overlay).toSorted()) {
      const value = overlay[name] ?? ''
      if (value.trim().length < shortestSecret || !isSecretName(name)) continue
      for (const form of secretEncodings(value)) if (form.length >= shortestSecret && !secrets.has(form)) secrets.set(form, name)
    }
  }
  return createRedactor(secrets)
}

// Shorter values would be found everywhere.
const shortestSecret = 6

const secretWords = new Set([
  'KEY',
  'TOKEN',
  'SECRET',
  'PASSWORD',
  'PASSWD',
  'PASSPHRASE',
  'CREDENTIAL',
  'AUTH',
  'AUTHORIZATION',
  'PRIVATE',
  'DSN',
])
/** Often part of a longer word: `PGPASSWORD`, `APIKEY`, `OAUTH`. */
const secretEndings = /(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH)$/
const otherWords = new Set(['MONKEY', 'DONKEY', 'TURKEY', 'HOCKEY', 'JOCKEY', 'WHISKEY', 'HOTKEY'])
/** Next to these, tokens are counted and not secret. */
const amounts = new Set(['MAX', 'MIN', 'LIMIT', 'COUNT', 'BUDGET', 'NUM', 'NUMBER', 'PER'])

function isSecretName(name: string): boolean {
  const words = name
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1_$2')
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1_$2')
    .toUpperCase()
    .split(/[^\p{L}]+/u)
  const isAmount = words.includes('TOKENS') && words.some((word) => amounts.has(word))
  return words.some((word) => {
    const singular = word.endsWith('S') ? word.slice(0, -1) : word
    if (isAmount && singular === 'TOKEN') return false
    return secretWords.has(singular) || (secretEndings.test(singular) && !otherWords.has(singular))
  })
}

interface Range {
  readonly start: number
  readonly end: number
  readonly name: string
}

function createRedactor(secrets: ReadonlyMap<string, string>): Redactor {
  const forms = [...secrets].toSorted(([one], [other]) => other.length - one.length)
  const shortest = Math.min(shortestToken, ...forms.map(([form]) => form.length))
  // Only a secret of digits can be part of a number.
  const hasDigits = forms.some(([form]) => /^[\d.e+-]+$/.test(form))
  const text = (given: string): string => {
    const plain = wellFormed(given)
    return plain.length < shortest ? plain : withoutRanges(plain, rangesOf(plain, forms))
  }
  const number = (value: number): Json => {
    const shown = String(value)
    const hidden = text(shown)
    return hidden === shown ? value : hidden
  }
  const mapper: JsonMapper = hasDigits ? { text, number } : { text }
  const json = (value: Json): Json => mapJson(value, mapper)
  const spellings = forms.map(([form]) => form)
  return { text, json, stream: () => new RedactionStream(spellings, text) }
}

/** All matches in the original text, so that overlapping secrets are redacted completely. */
function rangesOf(text: string, forms: readonly (readonly [string, string])[]): Range[] {
  const ranges: Range[] = []
  for (const [form, name] of forms) {
    for (let start = text.indexOf(form); start >= 0; start = text.indexOf(form, start + form.length)) {
      ranges.push({ start, end: start + form.length, name })
    }
  }
  for (const { start, end } of tokensIn(text)) ranges.push({ start, end, name: 'TROUPE_TOKEN' })
  return ranges
}

function withoutRanges(text: string, ranges: Range[]): string {
  if (ranges.length === 0) return text
  // Stable sort: of two at the same start the longer secret comes first.
  ranges.sort((one, other) => one.start - other.start)
  let result = ''
  let end = 0
  for (const range of ranges) {
    if (range.start >= end) result += `${text.slice(end, range.start)}[redacted:${range.name}]`
    end = Math.max(end, range.end)
  }
  return result + text.slice(end)
}

interface JsonMapper {
  text(text: string): string
  number?(number: number): Json
}

/** Maps the texts, keys and numbers of a value. Returns the same object if nothing changes: most objects stay as they are. */
export function mapJson(value: Json, mapper: JsonMapper): Json {
  if (typeof value === 'string') return mapper.text(value)
  if (typeof value === 'number' && mapper.number) return mapper.number(value)
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? mapList(value, mapper) : mapObject(value as JsonObject, mapper)
}

function mapList(list: readonly Json[], mapper: JsonMapper): readonly Json[] {
  let copy: Json[] | undefined
  for (let index = 0; index < list.length; index++) {
    const value = list[index] as Json
    const mapped = mapJson(value, mapper)
    if (mapped === value) continue
    copy ??= [...list]
    copy[index] = mapped
  }
  return copy ?? list
}

function mapObject(object: JsonObject, mapper: JsonMapper): JsonObject {
  let changed: Map<string, [string, Json | undefined]> | undefined
  for (const key of Object.keys(object)) {
    const value = object[key]
    const mappedKey = mapper.text(key)
    const mapped = value === undefined ? value : mapJson(value, mapper)
    if (mappedKey === key && mapped === value) continue
    changed ??= new Map()
    changed.set(key, [mappedKey, mapped])
  }
  return changed ? Object.fromEntries(Object.entries(object).map(([key, value]) => changed.get(key) ?? [key, value])) : object
}
