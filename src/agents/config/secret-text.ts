import type { Json } from '../../contracts/index.ts'
import { redactor } from '../../util/redact.ts'
import { parseTemplate } from './template.ts'

const hidden = '[redacted]'
const probe = 'a value that is long enough'

/** Whether what goes by this name is a secret: by the rule that events and logs are redacted by. */
export const isSecretName = (name: string): boolean => redactor({ [name]: probe }).text(probe) !== probe

/** What looks like a key, whatever it is called: long, letters and digits, nothing that a path or an address begins with. */
const keyLike = /[\w+/=.-]{24,}/g
const looksLikeKey = (text: string): boolean => /^[^/.]{16}/.test(text) && /\d/.test(text) && /[A-Za-z]/.test(text)
const userInAddress = /(:\/\/)[^/@\s]+@/g

/** A value for people's eyes. Under a secret name only the placeholders are left. */
export function withoutSecrets(value: Json, path: readonly string[]): Json {
  const isSecret = path.some(isSecretName)
  return mapTexts(value, isSecret, (text, secret) => (secret ? onlyPlaceholders(text) : withoutKeys(text)))
}

function mapTexts(value: Json, isSecret: boolean, change: (text: string, isSecret: boolean) => string): Json {
  if (typeof value === 'string') return change(value, isSecret)
  if (typeof value === 'number' && isSecret) return hidden
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => mapTexts(each, isSecret, change))
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, mapTexts(inner ?? null, isSecret || isSecretName(key), change)]),
  )
}

function onlyPlaceholders(text: string): string {
  const template = parseTemplate(text)
  if (!template.ok) return hidden
  return template.parts.map((part) => (part.kind === 'literal' ? hidden : written(part.name, part.otherwise))).join('')
}

/** A default may be a key as well as anything else. */
function written(name: string, otherwise: string | undefined): string {
  if (otherwise === undefined) return `\${${name}}`
  return `\${${name}:-${otherwise === '' ? '' : hidden}}`
}

const withoutKeys = (text: string): string =>
  text.replace(userInAddress, `$1${hidden}@`).replace(keyLike, (found) => (looksLikeKey(found) ? hidden : found))

/**
 * The text of a JSON file for showing lines of it: values of secret names and what looks like a key become dots, each in
 * its own length, so that columns stay what they are.
 */
export function maskedJson(text: string): string {
  let isSecret = false
  return text.replace(/"(?:[^"\\\n]|\\.)*"?(?=(\s*:)?)/g, (written, colon: string | undefined) => {
    if (colon !== undefined) {
      isSecret = isSecretName(written)
      return written
    }
    if (isSecret && !/^"\$\{\w+\}"$/.test(written)) return `"${dots(written.slice(1, -1))}"`
    return written.replace(keyLike, (found) => (looksLikeKey(found) ? dots(found) : found))
  })
}

const dots = (secret: string): string => '•'.repeat(secret.length)
