// The sections that say what agents may do. Every layer has a say in them, and the strictest counts.
import { resolve } from 'node:path'
import {
  type ApprovalPolicy,
  type ApprovalRule,
  defaultSandboxPolicy,
  type HookDefinition,
  type Json,
  type JsonObject,
  type SandboxPolicy,
} from '../../contracts/index.ts'
import { mergeSandbox, type SandboxSettings } from '../../policy/merge-sandbox.ts'
import { type Config, isTrustedFile, sectionByLayer } from './config.ts'
import type { FileOrigin } from './origin.ts'
import { folderOf, isOwnLayer } from './places.ts'
import { resolveParts } from './resolve.ts'
import type { SectionName } from './sections.ts'
import { type Sourced, sourcedAt } from './sourced.ts'

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
  const layers = saidIn(config, 'approvals')
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
  const layers = saidIn(config, 'sandbox').map(({ said, origin }) => ({ stated: statedSandbox(said, origin), origin }))
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
  const layers = saidIn(config, 'skills')
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
  return { agentsMd: saidIn(config, 'context').every(({ said }) => said.agentsMd !== false) }
}

interface SaidInLayer {
  readonly said: JsonObject
  readonly origin: FileOrigin
}

/** What each layer says in a section, strongest first. */
function saidIn(config: Config, section: SectionName): readonly SaidInLayer[] {
  return sectionByLayer(config, section).map((tree) => ({ said: plain(tree, section, config) as JsonObject, origin: tree.origin }))
}

/** No text of these sections has placeholders; what is escaped is put right. */
const plain = (tree: Sourced, section: SectionName, config: Config): Json =>
  resolveParts([{ path: [section], tree }], { config, environment: {} }).values[0] ?? {}
