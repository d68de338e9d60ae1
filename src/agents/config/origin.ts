/** Where a layer of the configuration stands, strongest first: named by hand, working directory, the agent's, user, system. */
export const layerNames = ['given', 'project', 'agent', 'user', 'system'] as const
export type LayerName = (typeof layerNames)[number]

export interface FileOrigin {
  readonly kind: 'file'
  readonly layer: LayerName
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Who said so. */
export type Origin =
  | FileOrigin
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'frontmatter'; readonly place: string }
  | { readonly kind: 'default' }

/** `/home/ann/.ai-agent/.ai-agent.json:3`, `--model`, `TROUPE_MODELS`, `default`. */
export function showOrigin(origin: Origin): string {
  switch (origin.kind) {
    case 'file':
      return `${origin.file}:${origin.line}`
    case 'flag':
    case 'variable':
      return origin.name
    case 'frontmatter':
      return origin.place
    case 'default':
      return 'default'
    default:
      return origin satisfies never
  }
}

/** A path of keys as people write it: `providers.openai.baseURL`, `pricing["openai/gpt-5.4"].input`. */
export function showPath(path: readonly string[]): string {
  return path.map((key, index) => (/^[\w$-]+$/.test(key) ? `${index === 0 ? '' : '.'}${key}` : `[${JSON.stringify(key)}]`)).join('')
}
