type ModelName =
  | { readonly kind: 'inherit' }
  | { readonly kind: 'model'; readonly name: string; readonly note?: string }
  | { readonly kind: 'unknown'; readonly name: string }

export const modelAliases: { readonly [alias: string]: string } = {
  sonnet: 'anthropic/claude-sonnet-5',
  opus: 'anthropic/claude-opus-5-5',
  haiku: 'anthropic/claude-haiku-4-5',
  fable: 'anthropic/claude-fable-5-1',
}

/** Names for the model of the session. */
const inherited = new Set(['inherit', 'auto', 'default'])

/** Anthropic's ids have no dots. */
const families: readonly (readonly [beginning: RegExp, provider: string, dot: string])[] = [
  [/^claude-/, 'anthropic', '-'],
  [/^(?:gpt-|o\d|codex-|chatgpt-)/, 'openai', '.'],
  [/^gemini-/, 'google', '.'],
]

/** Titles have spaces, names have none. */
function configuredName(written: string, configured: readonly string[]): string | undefined {
  const plain = written.replace(/\s*(?:\[[^\]]*\]|\([^)]*\))$/s, '').replace(/\s+/g, '-')
  return [written, plain, plain.toLowerCase()].find((each) => configured.includes(each))
}

/** Translates a configured or well-known alias, an id, `provider/id`, or a title such as `Claude Sonnet 4.5 (copilot)`. */
export function modelName(written: string, configured: readonly string[] = []): ModelName {
  const name = written.trim()
  const own = configuredName(name, configured)
  if (own !== undefined) return { kind: 'model', name: own }
  if (inherited.has(name.toLowerCase())) return { kind: 'inherit' }
  if (/^[^\s/]+\/\S+$/.test(name)) return { kind: 'model', name }
  const [, plain = name, extra] = /^(.*?)\s*(\[[^\]]*\]|\([^)]*\))?$/s.exec(name) ?? []
  const note = extra?.startsWith('[') ? { note: `\`${extra}\` is left out` } : {}
  const alias = Object.hasOwn(modelAliases, plain.toLowerCase()) ? modelAliases[plain.toLowerCase()] : undefined
  if (alias !== undefined) return { kind: 'model', name: alias, ...note }
  const id = plain.toLowerCase().replace(/\s+/g, '-')
  const family = families.find(([beginning]) => beginning.test(id))
  if (!family || !/^[\w.:-]+$/.test(id)) return { kind: 'unknown', name: plain.replace(/\s+/g, '-') || name }
  const [, provider, dot] = family
  return { kind: 'model', name: `${provider}/${id.replaceAll('.', dot)}`, ...note }
}
