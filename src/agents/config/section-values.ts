// The sections that say what agents may do. Every layer has a say in them, and the strictest counts.
import { join, resolve } from 'node:path'
import {
  type ApprovalPolicy,
  type ApprovalRule,
  defaultSandboxPolicy,
  type HookDefinition,
  type Json,
  type JsonObject,
  type SandboxPolicy,
  TroupeError,
} from '../../contracts/index.ts'
import { mergeSandbox, type SandboxSettings } from '../../policy/merge-sandbox.ts'
import { type Config, isTrustedFile, sectionByLayer, settingsOf } from './config.ts'
import { folderOf, isOwnLayer } from './config-places.ts'
import type { SectionName } from './sections.ts'
import { type FileOrigin, type Sourced, sourcedAt } from './sourced.ts'
import { findEscapingLink } from './trust/escaping-link.ts'
import { type Part, resolveParts, type VariableSources } from './variables/resolve-placeholders.ts'

/** What happens to a call that a person is asked about where none is there. */
export type OnUnavailable = 'suspend' | 'deny'

export interface ConfiguredApprovals {
  /** One for each layer that has rules, named by its file, strongest layer first. */
  readonly policies: readonly ApprovalPolicy[]
  /** Absent where no layer says anything. */
  readonly onUnavailable?: OnUnavailable
}

/** Of a project that nobody has trusted only what asks and denies is among the rules. */
export function approvalsOf(config: Config): ConfiguredApprovals {
  const layers = layersOf(config, 'approvals')
  const policies = layers.flatMap(({ said, origin }): readonly ApprovalPolicy[] => {
    const rules = (said.rules ?? []) as readonly ApprovalRule[]
    return rules.length > 0 ? [{ name: origin.file, rules }] : []
  })
  const wishes = layers.flatMap(({ said }) => said.onUnavailable ?? [])
  const onUnavailable: OnUnavailable | undefined = wishes.includes('deny') ? 'deny' : wishes.length > 0 ? 'suspend' : undefined
  return { policies, ...(onUnavailable !== undefined && { onUnavailable }) }
}

/**
 * What all layers together let programs reach. A person's own and trusted ones may allow more than the default; what they
 * say is held against each other, and then against projects that nobody has trusted, which can only take away.
 */
export function sandboxOf(config: Config): SandboxPolicy {
  const layers = layersOf(config, 'sandbox').map(({ said, origin }) => ({ stated: statedSandbox(said, origin), origin }))
  const isTrusted = ({ origin }: { readonly origin: FileOrigin }): boolean => isTrustedFile(config, origin.file)
  const strictest = (from: SandboxSettings, among: typeof layers): SandboxSettings =>
    among.reduce<SandboxSettings>((so, { stated }) => mergeSandbox(so, stated), from)
  const allowed: SandboxPolicy = { ...defaultSandboxPolicy, ...strictest({}, layers.filter(isTrusted)) }
  return {
    ...allowed,
    ...strictest(
      allowed,
      layers.filter((layer) => !isTrusted(layer)),
    ),
  }
}

/** Folders are relative to the file that names them. */
function statedSandbox(said: JsonObject, origin: FileOrigin): SandboxSettings {
  const { writable, ...rest } = said as SandboxSettings
  return { ...rest, ...(writable && { writable: writable.map((folder) => resolve(folderOf(origin), folder)) }) }
}

export interface ConfiguredHook {
  /** Found to be right. */
  readonly definition: HookDefinition
  /** The folder of its file: paths are relative to it, and commands run in it. */
  readonly baseDir: string
  /** `file:line:column`. */
  readonly place: string
  /** It stands in a person's own file. The programs of others are trusted one by one. */
  readonly isOwn: boolean
}

/** The hooks of all layers, strongest layer first: whoever looks after the machine has the last word. Only of trusted files. */
export function hooksOf(config: Config): readonly ConfiguredHook[] {
  return sectionByLayer(config, 'hooks').flatMap((tree) => {
    if (tree.kind !== 'value' || !isTrustedFile(config, tree.origin.file)) return []
    const hooks = plain(tree, 'hooks', config) as unknown as readonly HookDefinition[]
    return hooks.map((definition, index) => {
      const { file, line, column, layer } = tree.entries?.[index] ?? tree.origin
      return { definition, baseDir: folderOf({ file }), place: `${file}:${line}:${column}`, isOwn: isOwnLayer(layer) }
    })
  })
}

/** The hooks of one file, trusted or not. */
export function hooksIn(settings: Sourced): readonly HookDefinition[] {
  const tree = sourcedAt(settings, ['hooks'])
  if (tree?.kind !== 'value') return []
  return plain(tree, 'hooks', {
    layers: [],
    files: [],
    ownFolders: [],
    pending: [],
    diagnostics: [],
  }) as unknown as readonly HookDefinition[]
}

export interface ConfiguredSkills {
  /** Absolute, strongest layer first. */
  readonly directories: readonly string[]
  /** Names of skills that nobody is to have. */
  readonly disabled: readonly string[]
}

/** What any layer says counts: none takes back what another has switched off. */
export function skillsOf(config: Config): ConfiguredSkills {
  const layers = layersOf(config, 'skills')
  const directories = layers.flatMap(({ said, origin }) =>
    ((said.directories ?? []) as readonly string[]).map((folder) => resolve(folderOf(origin), folder)),
  )
  const disabled = layers.flatMap(({ said }) => ((said.disabled ?? []) as readonly string[]).map((name) => name.trim()))
  return { directories: [...new Set(directories)], disabled: [...new Set(disabled)] }
}

export interface ConfiguredContext {
  /** Whether sessions are told what `AGENTS.md` files say. */
  readonly agentsMd: boolean
}

export function contextOf(config: Config): ConfiguredContext {
  return { agentsMd: layersOf(config, 'context').every(({ said }) => said.agentsMd !== false) }
}

interface LayerValue {
  readonly said: JsonObject
  readonly origin: FileOrigin
}

/** What each layer says in a section, strongest first. */
function layersOf(config: Config, section: SectionName): readonly LayerValue[] {
  return sectionByLayer(config, section).map((tree) => ({ said: plain(tree, section, config) as JsonObject, origin: tree.origin }))
}

/** No text of these sections has placeholders; what is escaped is put right. */
const plain = (tree: Sourced, section: SectionName, config: Config): Json =>
  resolveParts([{ path: [section], tree }], { config, environment: {} }).values[0] ?? {}

/** How much of something may happen at once, and in a minute. */
export interface QueueLimits {
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

interface Named<Value> {
  readonly [name: string]: Value
}

export const queuesOf = (config: Config): Named<QueueLimits> => plainSection(config, 'queues') ?? {}
/** By `provider/model`. */
export const pricesOf = (config: Config): Named<ModelPrice> => plainSection(config, 'pricing') ?? {}
/** Models that may be asked under a limit of costs though they have no price. */
export const unpricedOf = (config: Config): readonly string[] => plainSection(config, 'unpriced') ?? []
/** How agents see those that they may call, if the configuration says so. */
export const childrenOfferedOf = (config: Config): 'each' | 'directory' | undefined => plainSection(config, 'childrenOffered')
export const featuresOf = (config: Config): Named<boolean> => plainSection(config, 'features') ?? {}

/** Files, folders and globs of agents as absolute paths, each relative to the file that names it. */
export function agentPathsOf(sources: VariableSources): readonly string[] {
  const tree = settingsOf(sources.config, 'agents')
  if (!tree) return []
  const [paths] = resolveParts([{ path: ['agents'], tree }], sources).values
  return (paths as readonly string[]).map((path) => resolve(folderOf(tree.origin), path))
}

/** Where journals are kept, if the configuration says so. Throws `config_invalid` where a project's word for it leads over a link. */
export function storePathOf(sources: VariableSources): string | undefined {
  const path = ['store', 'path']
  const tree = sourcedAt(settingsOf(sources.config, 'store'), path.slice(1))
  if (!tree) return undefined
  const part: Part = { path, tree }
  const { origin } = tree
  const folder = folderOf(origin)
  const found = resolve(folder, String(resolveParts([part], sources).values[0]))
  const link = isOwnLayer(origin.layer) ? undefined : findLink(folder, [found, ...storeFiles.map((name) => join(found, name))])
  if (link !== undefined) throw linkError(link, origin)
  return found
}

/** What is written in the folder of journals, by names that anybody may have taken before. */
const storeFiles = ['troupe.db', 'troupe.db-wal', 'troupe.db-shm', 'troupe.db-journal', 'blobs']

function findLink(folder: string, paths: readonly string[]): string | undefined {
  for (const path of paths) {
    const link = findEscapingLink(folder, path)
    if (link !== undefined) return link
  }
  return undefined
}

const linkError = (link: string, { file, line, column }: FileOrigin): TroupeError =>
  new TroupeError('config_invalid', 'Journals would be written outside of the project, over a link.', {
    problems: [{ place: `${file}:${line}:${column}`, message: `\`store.path\` leads out of the folder by ${link}` }],
    remedy: 'If it is meant, let `store.path` name the folder that the link leads to, and trust that; or take the link away.',
  })

/** A section without placeholders. */
function plainSection<Plain>(config: Config, section: SectionName): Plain | undefined {
  const tree = settingsOf(config, section)
  return tree && (resolveParts([{ path: [section], tree }], { config, environment: {} }).values[0] as Plain)
}
