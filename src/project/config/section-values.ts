// Typed values of sections. In sections about permissions, all layers are combined and the strictest applies.
import { join, resolve } from 'node:path'
import {
  type ApprovalPolicy,
  type ApprovalRule,
  defaultSandboxPolicy,
  type HookDefinition,
  type Json,
  type JsonObject,
  type OpenApiDefinition,
  type Problem,
  type RestToolDefinition,
  type SandboxPolicy,
  TroupeError,
} from '../../contracts/index.ts'
import { checkShape } from '../../policy/check-shape.ts'
import { mergeSandbox, type SandboxSettings } from '../../policy/merge-sandbox.ts'
import { hasPlaceholders, parsePlaceholders, writtenPlaceholder } from '../../policy/placeholders.ts'
import { type Config, isTrustedFile, sectionByLayer, settingsOf } from './config.ts'
import { folderOf, isOwnLayer } from './config-places.ts'
import { type SectionName, sections } from './sections.ts'
import { type FileOrigin, keysOf, placeOf, type Sourced, sourcedAt, sourcedToJson } from './sourced.ts'
import { findEscapingLink } from './trust/escaping-link.ts'
import { resolveParts, type VariableSources } from './variables/resolve-placeholders.ts'

/** What happens to a call that needs approval if nobody can answer. */
export type OnUnavailable = 'suspend' | 'deny'

interface ConfiguredApprovals {
  /** One for each layer that has rules, named by its file, strongest layer first. */
  readonly policies: readonly ApprovalPolicy[]
  /** Absent if no layer sets it. */
  readonly onUnavailable?: OnUnavailable
}

/** Untrusted files have only rules that ask or deny. */
export function approvalsOf(config: Config): ConfiguredApprovals {
  const layers = layersOf(config, 'approvals')
  const policies = layers.flatMap(({ value, origin }): readonly ApprovalPolicy[] => {
    const rules = (value.rules ?? []) as readonly ApprovalRule[]
    return rules.length > 0 ? [{ name: origin.file, rules }] : []
  })
  const stated = layers.flatMap(({ value }) => value.onUnavailable ?? [])
  const onUnavailable: OnUnavailable | undefined = stated.includes('deny') ? 'deny' : stated.length > 0 ? 'suspend' : undefined
  return { policies, ...(onUnavailable !== undefined && { onUnavailable }) }
}

/** The intersection of all layers. Trusted layers can allow more than the default; untrusted layers only add restrictions. */
export function sandboxOf(config: Config): SandboxPolicy {
  const layers = layersOf(config, 'sandbox')
  const strictest = (from: SandboxSettings, isTrusted: boolean): SandboxSettings =>
    layers
      .filter(({ origin }) => isTrustedFile(config, origin.file) === isTrusted)
      .reduce((merged, { value, origin }) => mergeSandbox(merged, withAbsoluteFolders(value, origin)), from)
  const allowed: SandboxPolicy = { ...defaultSandboxPolicy, ...strictest({}, true) }
  return { ...allowed, ...strictest(allowed, false) }
}

/** Folders are relative to the file that names them. */
function withAbsoluteFolders(value: JsonObject, origin: FileOrigin): SandboxSettings {
  const { writable, ...rest } = value as SandboxSettings
  return { ...rest, ...(writable && { writable: writable.map((folder) => resolve(folderOf(origin), folder)) }) }
}

export interface ConfiguredHook {
  readonly definition: HookDefinition
  /** The folder of its file: paths are relative to it, and commands run in it. */
  readonly baseDir: string
  /** `file:line:column`. */
  readonly place: string
  /** It is set in a file of the user or the machine. Programs of other hooks are trusted one by one. */
  readonly isOwn: boolean
}

/** The hooks of all trusted files, strongest layer first, so that hooks of the machine run last. */
export function hooksOf(config: Config): readonly ConfiguredHook[] {
  return sectionByLayer(config, 'hooks').flatMap((tree) => {
    if (tree.kind !== 'value' || !isTrustedFile(config, tree.origin.file)) return []
    const hooks = plainValue(tree, 'hooks') as unknown as readonly HookDefinition[]
    return hooks.map((definition, index) => {
      const origin = tree.entries?.[index] ?? tree.origin
      return { definition, baseDir: folderOf(origin), place: placeOf(origin), isOwn: isOwnLayer(origin.layer) }
    })
  })
}

/** The hooks of one file, trusted or not. */
export function hooksIn(settings: Sourced): readonly HookDefinition[] {
  const tree = sourcedAt(settings, ['hooks'])
  return tree?.kind === 'value' ? (plainValue(tree, 'hooks') as unknown as readonly HookDefinition[]) : []
}

/** A definition under a name that a person chose. */
export interface ConfiguredTool<Definition> {
  readonly name: string
  /** With placeholders. */
  readonly definition: Definition
  readonly origin: FileOrigin
}

/** The strongest layer with a name defines it as a whole: another layer must not change where its credentials are sent. */
export const restToolsOf = (config: Config): readonly ConfiguredTool<RestToolDefinition>[] => toolsIn(sectionByLayer(config, 'restTools'))
export const openApisOf = (config: Config): readonly ConfiguredTool<OpenApiDefinition>[] => toolsIn(sectionByLayer(config, 'openapi'))

function toolsIn<Definition>(layers: readonly Sourced[]): readonly ConfiguredTool<Definition>[] {
  const found = new Map<string, ConfiguredTool<Definition>>()
  for (const tree of layers)
    for (const name of keysOf(tree)) {
      const definition = sourcedAt(tree, [name])
      if (definition && !found.has(name))
        found.set(name, { name, origin: definition.origin, definition: sourcedToJson(definition) as unknown as Definition })
    }
  return [...found.values()]
}

/** The files of OpenAPI documents in one configuration file, trusted or not. URLs are no files. */
export function documentsIn(settings: Sourced): readonly string[] {
  const section = sourcedAt(settings, ['openapi'])
  const specs = (section ? toolsIn<OpenApiDefinition>([section]) : []).map(({ definition, origin }) => ({ spec: definition.spec, origin }))
  return specs.flatMap(({ spec, origin }) => (isDocumentFile(spec) ? [resolve(folderOf(origin), spec)] : []))
}

/** A text with a variable is a URL: the file that a person trusts must not depend on a variable. */
export const isDocumentFile = (spec: string): boolean => !/^https?:\/\//i.test(spec) && !hasPlaceholders(spec)

interface ConfiguredSkills {
  /** Absolute, strongest layer first. */
  readonly directories: readonly string[]
  readonly disabled: readonly string[]
}

/** All layers apply: no layer enables a skill that another one disables. */
export function skillsOf(config: Config): ConfiguredSkills {
  const layers = layersOf(config, 'skills')
  const directories = layers.flatMap(({ value, origin }) =>
    ((value.directories ?? []) as readonly string[]).map((folder) => resolve(folderOf(origin), folder)),
  )
  const disabled = layers.flatMap(({ value }) => ((value.disabled ?? []) as readonly string[]).map((name) => name.trim()))
  return { directories: [...new Set(directories)], disabled: [...new Set(disabled)] }
}

interface ConfiguredContext {
  /** Whether sessions get the text of `AGENTS.md` files. */
  readonly agentsMd: boolean
}

export function contextOf(config: Config): ConfiguredContext {
  return { agentsMd: layersOf(config, 'context').every(({ value }) => value.agentsMd !== false) }
}

/** The value of a section in each layer, strongest first. */
function layersOf(config: Config, section: SectionName): readonly { readonly value: JsonObject; readonly origin: FileOrigin }[] {
  return sectionByLayer(config, section).map((tree) => ({ value: plainValue(tree, section) as JsonObject, origin: tree.origin }))
}

interface QueueLimits {
  readonly concurrent?: number
  readonly perMinute?: number
}

/** US dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
}

/** The server of `troupe serve`. */
export interface HeadendSettings {
  readonly host?: string
  readonly port?: number
  /** Where clients reach the server. */
  readonly publicUrl?: string
  /** Further names that clients use in the Host header. */
  readonly hosts?: readonly string[]
  /** Origins of pages of other sites that may send requests. */
  readonly origins?: readonly string[]
  readonly maxBodyBytes?: number
  /** How many turns run and wait together. */
  readonly concurrency?: {
    readonly total?: number
    readonly perHeadend?: number
    readonly perAgent?: number
    readonly perToken?: number
    readonly queue?: number
    readonly queueMs?: number
  }
  /** How many streams are open together. */
  readonly streams?: { readonly total?: number; readonly perToken?: number }
  /** How long running turns may continue when the server stops, in milliseconds. */
  readonly drain?: number
  /** Whether MCP is also served over SSE and WebSockets. */
  readonly legacyTransports?: boolean
}

/** OpenTelemetry traces of `troupe serve`. */
export interface TelemetrySettings {
  /** The address for OTLP over HTTP. Nothing is sent without it. */
  readonly endpoint?: string
  readonly headers?: { readonly [name: string]: string }
  /** Whether to send arguments and results of calls, and answers. */
  readonly content?: boolean
}

interface Named<Value> {
  readonly [name: string]: Value
}

export const queuesOf = (config: Config): Named<QueueLimits> => merged(config, 'queues') ?? {}
/** By `provider/model`. */
export const pricesOf = (config: Config): Named<ModelPrice> => merged(config, 'pricing') ?? {}
/** Models without a price that can be used under a cost limit. */
export const unpricedOf = (config: Config): readonly string[] => merged(config, 'unpriced') ?? []
export const childrenOfferedOf = (config: Config): 'each' | 'directory' | undefined => merged(config, 'childrenOffered')
export const toolsOfferedOf = (config: Config): 'each' | 'search' | undefined => merged(config, 'toolsOffered')
export const headendsOf = (config: Config): HeadendSettings => merged(config, 'headends') ?? {}
export const featuresOf = (config: Config): Named<boolean> => merged(config, 'features') ?? {}

function merged<Value>(config: Config, section: SectionName): Value | undefined {
  const tree = settingsOf(config, section)
  return tree && (plainValue(tree, section) as Value)
}

const noConfig: Config = { layers: [], files: [], ownFolders: [], pending: [], diagnostics: [] }

/** The value of a section without placeholders. Replaces `$${` by `${`. */
const plainValue = (tree: Sourced, section: SectionName): Json =>
  resolveParts([{ path: [section], tree }], { config: noConfig, environment: {} }).values[0] ?? {}

export function telemetryOf(sources: VariableSources): TelemetrySettings {
  const tree = settingsOf(sources.config, 'telemetry')
  if (!tree) return {}
  return (resolveParts([{ path: ['telemetry'], tree }], sources).values[0] ?? {}) as TelemetrySettings
}

/** Files, folders and globs of agents as absolute paths. */
export function agentPathsOf(sources: VariableSources): readonly string[] {
  const tree = settingsOf(sources.config, 'agents')
  if (!tree) return []
  const [paths] = resolveParts([{ path: ['agents'], tree }], sources).values
  return (paths as readonly string[]).map((path) => resolve(folderOf(tree.origin), path))
}

/** The aliases of models. */
export const modelAliasesOf = (config: Config): readonly string[] => keysOf(settingsOf(config, 'models'))

/** The folder for journals, if it is configured. Throws `config_invalid` if a project's path leaves the project over a link. */
export function storePathOf(sources: VariableSources): string | undefined {
  const tree = sourcedAt(settingsOf(sources.config, 'store'), ['path'])
  if (!tree) return undefined
  const { origin } = tree
  const folder = folderOf(origin)
  const store = resolve(folder, String(resolveParts([{ path: ['store', 'path'], tree }], sources).values[0]))
  const written = isOwnLayer(origin.layer) ? [] : [store, ...storeFiles.map((name) => join(store, name))]
  for (const path of written) {
    const link = findEscapingLink(folder, path)
    if (link !== undefined) throw linkError(link, origin)
  }
  return store
}

/** A database for the sessions. */
export interface DatabaseAddress {
  readonly url: string
  /** A direct connection for notifications, where `url` is a pooler. */
  readonly listenUrl?: string
  /** The maximum number of connections. */
  readonly pool?: number
}

/** The database for journals, if one is configured. */
export function databaseOf(sources: VariableSources): DatabaseAddress | undefined {
  const settings = settingsOf(sources.config, 'store')
  const [url, listenUrl, pool] = ['url', 'listenUrl', 'pool'].map((key) => sourcedAt(settings, [key]))
  if (!url) return undefined
  return {
    url: addressOf(url, sources),
    ...(listenUrl && { listenUrl: addressOf(listenUrl, sources) }),
    ...(pool && { pool: Number(sourcedToJson(pool)) }),
  }
}

/** A variable is a whole address, or a part such as a password, which may have any characters. */
function addressOf(tree: Sourced, sources: VariableSources): string {
  const { value, origin } = tree as Extract<Sourced, { readonly kind: 'value' }>
  const filled = (text: string): string =>
    String(resolveParts([{ path: ['store', 'url'], tree: { kind: 'value', value: text, origin } }], sources).values[0])
  const parsed = parsePlaceholders(String(value))
  if (!parsed.ok || parsed.parts.length === 1) return filled(String(value))
  return parsed.parts.map((part) => (part.kind === 'literal' ? part.text : encodeURIComponent(filled(writtenPlaceholder(part))))).join('')
}

/** A link with one of these names could redirect what the store writes. */
const storeFiles = ['troupe.db', 'troupe.db-wal', 'troupe.db-shm', 'troupe.db-journal', 'blobs']

const linkError = (link: string, origin: FileOrigin): TroupeError =>
  new TroupeError('config_invalid', 'Journals would be written outside the project, over a link.', {
    problems: [{ place: placeOf(origin), message: `\`store.path\` leaves the folder over the link ${link}` }],
    remedy: 'Set `store.path` to the target of the link and trust the file again, or remove the link.',
  })

/** What is wrong with settings of a server that a program gives. */
export function headendProblems(settings: object, place: string): readonly Problem[] {
  const problems: Problem[] = []
  checkShape(problems, settings, { shape: sections.headends.shape, place })
  return problems
}
