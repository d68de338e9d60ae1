import type { Json } from '../../contracts/index.ts'

/** The layers of a configuration, strongest first: `--config`, working directory, folder of the agent, user, system. */
export const layerNames = ['given', 'project', 'agent', 'user', 'system'] as const
export type LayerName = (typeof layerNames)[number]

export interface FileOrigin {
  readonly kind: 'file'
  readonly layer: LayerName
  readonly file: string
  readonly line: number
  readonly column: number
}

/** Where a value comes from. */
export type Origin =
  | FileOrigin
  | { readonly kind: 'flag'; readonly name: string }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'frontmatter'; readonly place: string }
  | { readonly kind: 'default' }

/** `file:line:column`. */
export const placeOf = ({ file, line, column }: Omit<FileOrigin, 'kind' | 'layer'>): string => `${file}:${line}:${column}`

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

/** `providers.openai.baseURL`, `pricing["openai/gpt-5.4"].input`. */
export function showPath(path: readonly string[]): string {
  return path.map((key, index) => (/^[\w$-]+$/.test(key) ? `${index === 0 ? '' : '.'}${key}` : `[${JSON.stringify(key)}]`)).join('')
}

/** Settings with the origin of every value. Maps are `Map`s, so that no key is special. */
export type Sourced = SourcedMap | SourcedValue

export interface SourcedMap {
  readonly kind: 'map'
  readonly entries: ReadonlyMap<string, Sourced>
  readonly origin: FileOrigin
  /** A weaker layer has a value here that is not a map, so it hides the layers below it. */
  readonly sealed: boolean
}

/** A scalar or a list, which is merged as a whole. */
export interface SourcedValue {
  readonly kind: 'value'
  readonly value: Json
  readonly origin: FileOrigin
  /** The origin of each entry of a list of maps. */
  readonly entries?: readonly FileOrigin[]
}

export interface Leaf extends SourcedValue {
  readonly path: readonly string[]
}

/** The values with their paths, in the order of the file. An empty map is a value. */
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

/** The keys of a map; empty for anything else. */
export const keysOf = (tree: Sourced | undefined): readonly string[] => (tree?.kind === 'map' ? [...tree.entries.keys()] : [])

/** Replaces or removes values. Removes a map that loses its last value. */
export function mapLeaves(tree: Sourced, change: (leaf: Leaf) => Json | undefined, path: readonly string[] = []): Sourced | undefined {
  if (tree.kind === 'value') {
    const value = change({ ...tree, path })
    return value === undefined ? undefined : { ...tree, value }
  }
  const entries = new Map<string, Sourced>()
  for (const [key, inner] of tree.entries) {
    const changed = mapLeaves(inner, change, [...path, key])
    if (changed) entries.set(key, changed)
  }
  return entries.size === 0 && tree.entries.size > 0 ? undefined : { ...tree, entries }
}

export function sourcedToJson(tree: Sourced): Json {
  if (tree.kind === 'value') return tree.value
  return Object.fromEntries([...tree.entries].map(([key, inner]) => [key, sourcedToJson(inner)]))
}

export function hasText(value: Json | undefined, test: (text: string) => boolean): boolean {
  if (typeof value === 'string') return test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((each) => hasText(each, test))
}

/** Merges two trees: maps by key, everything else as a whole. Associative, so the order of merging layers does not matter. */
export function merge(stronger: Sourced, weaker: Sourced): Sourced {
  if (stronger.kind === 'value' || stronger.sealed) return stronger
  if (weaker.kind === 'value') return { ...stronger, sealed: true }
  const entries = new Map(stronger.entries)
  for (const [key, inner] of weaker.entries) {
    const own = entries.get(key)
    entries.set(key, own ? merge(own, inner) : inner)
  }
  return { ...stronger, entries, sealed: weaker.sealed }
}

/** Merges trees, strongest first; `undefined` if there are none. */
export function mergeAll(trees: readonly Sourced[]): Sourced | undefined {
  return trees.length === 0 ? undefined : trees.reduce(merge)
}
