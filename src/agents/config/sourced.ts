import type { Json } from '../../contracts/index.ts'

/** Settings in which every value knows where it was written. Maps are maps, so that no key is special. */
export type Sourced = SourcedMap | SourcedValue

export interface SourcedMap {
  readonly kind: 'map'
  readonly entries: ReadonlyMap<string, Sourced>
  readonly origin: FileOrigin
  /** A weaker layer had something other than a map here: what is weaker still does not shine through. */
  readonly sealed: boolean
}

/** A scalar or a list: replaced as a whole. */
export interface SourcedValue {
  readonly kind: 'value'
  readonly value: Json
  readonly origin: FileOrigin
  /** Of a list of maps, where each of them stands. */
  readonly entries?: readonly FileOrigin[]
}

export interface Leaf extends SourcedValue {
  readonly path: readonly string[]
}

/** The values with their paths, in the order of writing; an empty map counts as a value. */
export function leavesOf(tree: Sourced, path: readonly string[] = []): readonly Leaf[] {
  if (tree.kind === 'value') return [{ ...tree, path }]
  if (tree.entries.size === 0) return [{ kind: 'value', value: {}, origin: tree.origin, path }]
  return [...tree.entries].flatMap(([key, inner]) => leavesOf(inner, [...path, key]))
}

export function sourcedAt(tree: Sourced | undefined, path: readonly string[]): Sourced | undefined {
  const [key, ...rest] = path
  if (key === undefined || tree === undefined) return tree
  return tree.kind === 'map' ? sourcedAt(tree.entries.get(key), rest) : undefined
}

/** The keys of a map; none where there is no map. */
export const keysOf = (tree: Sourced | undefined): readonly string[] => (tree?.kind === 'map' ? [...tree.entries.keys()] : [])

/** The tree without those values that `keep` refuses; a map that loses its last value goes too. */
export function filterLeaves(tree: Sourced, keep: (leaf: Leaf) => boolean, path: readonly string[] = []): Sourced | undefined {
  if (tree.kind === 'value') return keep({ ...tree, path }) ? tree : undefined
  const entries = new Map<string, Sourced>()
  for (const [key, inner] of tree.entries) {
    const kept = filterLeaves(inner, keep, [...path, key])
    if (kept) entries.set(key, kept)
  }
  return entries.size === 0 && tree.entries.size > 0 ? undefined : { ...tree, entries }
}

/** A tree as the JSON that it stands for. */
export function sourcedToJson(tree: Sourced): Json {
  if (tree.kind === 'value') return tree.value
  return Object.fromEntries([...tree.entries].map(([key, inner]) => [key, sourcedToJson(inner)]))
}

export function hasText(value: Json | undefined, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((each) => hasText(each, test))
}

/**
 * Lays one tree over another: maps by key, everything else as a whole. Associative, so it does not matter which layers are
 * laid together first.
 */
export function merge(stronger: Sourced, weaker: Sourced): Sourced {
  if (stronger.kind === 'value' || stronger.sealed) return stronger
  if (weaker.kind === 'value') return { ...stronger, sealed: true }
  return { ...stronger, entries: mergedEntries(stronger, weaker), sealed: weaker.sealed }
}

/** The order of the stronger one, then what only the weaker one has. */
function mergedEntries(stronger: SourcedMap, weaker: SourcedMap): ReadonlyMap<string, Sourced> {
  const entries = new Map(stronger.entries)
  for (const [key, below] of weaker.entries) {
    const above = entries.get(key)
    entries.set(key, above ? merge(above, below) : below)
  }
  return entries
}

/** All of them as one, strongest first; nothing where there is none. */
export function mergeAll(trees: readonly Sourced[]): Sourced | undefined {
  return trees.length === 0 ? undefined : trees.reduce(merge)
}

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
