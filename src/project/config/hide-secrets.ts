import type { Json } from '../../contracts/index.ts'
import { hasPlaceholders, parsePlaceholders } from '../../policy/placeholders.ts'
import { displayAddress, parseHttpAddress } from '../../util/read-address.ts'
import { redactor } from '../../util/redact.ts'

const hidden = '[redacted]'
const probe = 'a value that is long enough'

/** Whether a value with this name is a secret, by the rule for events and logs. */
export const isSecretName = (name: string): boolean => redactor({ [name]: probe }).text(probe) !== probe

/** A name that a redactor treats as that of a secret. */
export const secretName = (name: string): string => (isSecretName(name) ? name : `secret ${name}`)

/** Text that looks like a key: long, with letters and digits, and not the beginning of a path or an address. */
const keyLike = /[\w+/=.-]{24,}/g
const looksLikeKey = (text: string): boolean => /^[^/.]{16}/.test(text) && /\d/.test(text) && /[A-Za-z]/.test(text)
/** Excludes `$`: a variable may hold the host. */
const userInAddress = /(:\/\/)[^/\\?#\s$]+@/g

/** A value for display. Values with secret names keep only their placeholders. Addresses are normalised. */
export function redactSettings(value: Json, path: readonly string[]): Json {
  return mapTexts(value, path, (text, at) => {
    if (isDatabase(at)) return redactDatabase(text)
    return isAddress(at) ? addressOf(text, redactKeys) : redactKeys(text)
  })
}

/** For a decision about trust: hides only credentials, because the person must see what runs and where data is sent. */
export function redactForTrust(value: Json, path: readonly string[]): Json {
  return mapTexts(value, path, (text, at) => {
    if (isDatabase(at)) return redactDatabase(text)
    if (isAddress(at)) return addressOf(text, (path) => path)
    return at.slice(2).some((key) => key === 'headers' || key === 'env') ? redactKeys(text) : text
  })
}

/** A text that may be an address: keeps the host, and hides everything that looks like a key. */
export const redactAddress = (text: string): string =>
  parseHttpAddress(text) ? addressOf(text, redactKeys) : text.replace(userInAddress, `$1${hidden}@`)

/** In these sections people choose the keys, so a key is no sign of a secret. */
const userNamedSections = new Set([
  'providers',
  'models',
  'mcpServers',
  'restTools',
  'openapi',
  'pricing',
  'queues',
  'features',
  'extensions',
])
const isSecretPath = (path: readonly string[]): boolean => path.some((key, index) => isSecretName(key) && !isUserNamed(path, index))
const isUserNamed = ([section = '']: readonly string[], index: number): boolean =>
  (index === 1 && userNamedSections.has(section)) || (index === 2 && section === 'webhooks')

const isAddress = (path: readonly string[]): boolean => /^(?:baseURL|url|spec)$/i.test(path.at(-1) ?? '')

const isDatabase = ([section, key = '']: readonly string[]): boolean => section === 'store' && /^(?:url|listenUrl)$/.test(key)

/** Hides the user and the password, which may have any characters, and keeps placeholders without their defaults. */
const redactDatabase = (text: string): string =>
  text.replace(/(:\/\/)(.*)@/s, (_, start: string, user: string) => `${start}${onlyPlaceholders(user)}@`)

/** Never hides the host. */
function addressOf(text: string, shown: (text: string) => string): string {
  const read = hasPlaceholders(text) ? undefined : parseHttpAddress(text)
  if (!read) return shown(text)
  const address = displayAddress(read)
  const path = address.indexOf('/', `${read.url.protocol}//`.length)
  return `${address.slice(0, path)}${shown(address.slice(path))}`
}

/** The variables in addresses and paths: `${REGION}` may decide where requests go. */
export function variablesInAddresses(settings: Json): readonly string[] {
  const names: string[] = []
  mapTexts(settings, [], (text, at) => {
    const template = isAddress(at) || at.at(-1) === 'path' ? parsePlaceholders(text) : undefined
    if (template?.ok) names.push(...template.parts.flatMap((part) => (part.kind === 'variable' ? [part.name] : [])))
    return text
  })
  return names
}

function mapTexts(value: Json, path: readonly string[], shown: (text: string, path: readonly string[]) => string): Json {
  if (typeof value === 'string') return isSecretPath(path) ? onlyPlaceholders(value) : shown(value, path)
  if (typeof value === 'number') return isSecretPath(path) ? hidden : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => mapTexts(each, path, shown))
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapTexts(inner ?? null, [...path, key], shown)]))
}

function onlyPlaceholders(text: string): string {
  const template = parsePlaceholders(text)
  if (!template.ok) return hidden
  return template.parts.map((part) => (part.kind === 'literal' ? hidden : written(part.name, part.fallback))).join('')
}

/** A default may be a key. */
function written(name: string, fallback: string | undefined): string {
  if (fallback === undefined) return `\${${name}}`
  return `\${${name}:-${fallback === '' ? '' : hidden}}`
}

const redactKeys = (text: string): string =>
  text.replace(userInAddress, `$1${hidden}@`).replace(keyLike, (found) => (looksLikeKey(found) ? hidden : found))

/** The text of a JSON file for display: replaces secrets by dots of the same length, so that columns stay the same. */
export function maskJson(text: string): string {
  let isSecret = false
  return text.replace(/"(?:[^"\\\n]|\\.)*"?(?=(\s*:)?)/g, (written, colon: string | undefined) => {
    if (colon !== undefined) {
      isSecret = isSecretName(written)
      return written
    }
    if (isSecret && !/^"\$\{\w+\}"$/.test(written)) return `"${dots(written.slice(1, -1))}"`
    const shown = written.replace(/(:\/\/)([^"]*)@/, (_, start: string, user: string) => `${start}${withoutPlaceholders(user)}@`)
    return shown.replace(keyLike, (found) => (looksLikeKey(found) ? dots(found) : found))
  })
}

const dots = (secret: string): string => '•'.repeat(secret.length)
/** Dots for everything but variables. */
const withoutPlaceholders = (text: string): string =>
  text.replace(/(\$\{\w+\})|[^$]+|\$/g, (found, variable: string | undefined) => variable ?? dots(found))
