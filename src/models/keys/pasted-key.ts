import { knownProvider, knownProviders } from '../known-providers.ts'

// A key as a person pastes it. Nothing here shows it: errors describe what is wrong.

export type PastedKey = { readonly ok: true; readonly key: string } | { readonly ok: false; readonly message: string }

const maxChars = 1_000
const minChars = 8

/** Takes a key out of what was pasted: without blanks around it, quotes, or the name of a variable before it. */
export function readPastedKey(pasted: string): PastedKey {
  const wrong = (message: string): PastedKey => ({ ok: false, message })
  const text = pasted.length > 10 * maxChars ? undefined : withoutWrapping(pasted)
  if (text === undefined || text.length > maxChars) return wrong(`This is too long for a key: a key has at most ${maxChars} characters.`)
  if (text === '') return wrong('The key is empty.')
  if (/[\r\n]/.test(text)) return wrong('This is no key: it has several lines.')
  if (/\s/.test(text)) return wrong('This is no key: it has blanks in it.')
  if (!/^[\w.~+/=:@|-]+$/.test(text)) return wrong('This is no key: it has quotes or other characters that keys do not have.')
  if (text.length < minChars) return wrong('This is too short for a key.')
  return { ok: true, key: text }
}

/** Of `export OPENAI_API_KEY="sk-…"` or `Bearer sk-…`, the key. */
function withoutWrapping(pasted: string): string {
  const line = pasted
    .replaceAll(/[\u200b-\u200d\ufeff]/g, '')
    .trim()
    .replace(/^(?:export\s+)?[A-Z][A-Z0-9_]*\s*=\s*|^Bearer\s+/, '')
  const [, inside] = /^(?:"([^"]*)"|'([^']*)'|`([^`]*)`|“([^”]*)”)$/.exec(line)?.filter((each) => each !== undefined) ?? []
  return (inside ?? line).trim()
}

interface KeyInfo {
  readonly label: string
  /** The variable that a key is stored in. */
  readonly variable?: string
  readonly keyPage?: string
  /** The model that `auto` would use. */
  readonly model?: string
}

/** What is known about the key of a provider. `undefined`: Troupe does not know the provider by name. */
export function keyInfo(name: string): KeyInfo | undefined {
  const known = knownProvider(name)
  if (!known) return undefined
  const { label, access, keys, keyPage, defaultModel } = known
  return {
    label,
    ...(access === 'key' && { variable: keys[0] }),
    ...(keyPage !== undefined && { keyPage }),
    ...(defaultModel !== undefined && { model: `${name}/${defaultModel}` }),
  }
}

/** Whose key it is, by how it begins. */
export interface KeyOwner {
  /** Absent for a provider that Troupe does not know by name. */
  readonly name?: string
  readonly label: string
  /** The address of an OpenAI-compatible server that Troupe does not know by name. */
  readonly home?: string
}

const others: readonly (KeyOwner & { readonly keyPrefix: string })[] = [
  { keyPrefix: 'gsk_', label: 'Groq', home: 'https://api.groq.com/openai/v1' },
  { keyPrefix: 'xai-', label: 'xAI', home: 'https://api.x.ai/v1' },
  { keyPrefix: 'pplx-', label: 'Perplexity', home: 'https://api.perplexity.ai' },
  { keyPrefix: 'hf_', label: 'Hugging Face', home: 'https://router.huggingface.co/v1' },
]

export function keyOwner(key: string): KeyOwner | undefined {
  const known = Object.entries(knownProviders).flatMap(([name, { label, keyPrefix }]) =>
    keyPrefix === undefined ? [] : [{ name, label, keyPrefix }],
  )
  // `sk-ant-` is more than `sk-`.
  const [longest] = [...known, ...others]
    .filter(({ keyPrefix }) => key.startsWith(keyPrefix))
    .toSorted((one, other) => other.keyPrefix.length - one.keyPrefix.length)
  if (!longest) return undefined
  const { keyPrefix: _, ...owner } = longest
  return owner
}
