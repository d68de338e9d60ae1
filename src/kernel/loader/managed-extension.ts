import type { AgentDescriptor, AnyExtension, ExtensionProblem, ExtensionState, HealthReport, Tool } from '../../contracts/index.ts'
import type { Capability, ExtensionManifest, FoundExtension, LoadedExtension, OpenedExtension } from '../shared/kernel-types.ts'
import type { OpenContext } from './extension-context.ts'

/** `idle`: not loaded, or stopped. `loaded`: initialized, with its tools. */
type Phase = 'idle' | 'loaded' | 'started'

/** An extension with what the loader knows about it. */
export class ManagedExtension implements LoadedExtension {
  readonly found: FoundExtension
  state: ExtensionState = 'running'
  phase: Phase = 'idle'
  opened: OpenedExtension | undefined
  context: OpenContext | undefined
  capabilities: ReadonlySet<Capability> = new Set()
  /** By their own names. */
  ownTools: ReadonlyMap<string, Tool> = new Map()
  tools: readonly Tool[] = []
  resolvedTools: readonly Tool[] = []
  descriptor: AgentDescriptor | undefined
  health: HealthReport | undefined
  problems: readonly ExtensionProblem[]
  /** Why it failed. */
  failure: ExtensionProblem | undefined
  /** How often its process was restarted, and when it was last. */
  restarts = { count: 0, at: 0 }
  /** Ends what was wired at the start, last first. */
  readonly undo: (() => unknown)[] = []

  constructor(found: FoundExtension) {
    this.found = found
    this.problems = found.problems
  }

  get id(): string {
    return this.found.id
  }

  get instance(): AnyExtension {
    return this.opened?.instance ?? {}
  }

  get runs(): LoadedExtension['runs'] {
    if (!this.opened) return 'nowhere'
    // The runtime runs an agent without code.
    return this.found.manifest?.entrypoint ? this.opened.runs : 'kernel'
  }

  /** The extensions that it cannot do without. */
  get needs(): readonly string[] {
    const { dependsOn = [], agent } = this.found.manifest ?? {}
    return [...new Set([...dependsOn, ...(agent?.usesTools ?? [])])]
  }
}

const channelMethods = ['streamToUser', 'showProgress', 'closeRequest'] as const

/** From the methods of the instance. A declarative agent has none. */
export function detectCapabilities(
  instance: AnyExtension,
  manifest: ExtensionManifest,
): { readonly capabilities: ReadonlySet<Capability>; readonly missing: readonly string[] } {
  const has = (...names: readonly (keyof AnyExtension)[]): boolean => names.every((name) => typeof instance[name] === 'function')
  const found: readonly [Capability, boolean][] = [
    ['tools', has('getTools')],
    ['channel', has('sendToUser')],
    ['service', has('runBackground')],
    ['scheduler', has('getSchedule', 'execute')],
    ['agent', manifest.agent !== undefined],
    ['context', has('getContext')],
    ['setup', has('getSetupSchema', 'applyConfig')],
  ]
  const missing = [
    ...(has('getSchedule') && !has('execute') ? ['`getSchedule` without `execute` has no effect'] : []),
    ...(has('getSetupSchema') && !has('applyConfig') ? ['`getSetupSchema` without `applyConfig` has no effect'] : []),
    ...channelMethods.filter((name) => has(name) && !has('sendToUser')).map((name) => `\`${name}\` without \`sendToUser\` has no effect`),
    ...(has('invoke') && !manifest.agent ? ['`invoke` without an `agent` section in the manifest has no effect'] : []),
    ...(has('invoke') && manifest.agent?.integrationMode === 'handoff'
      ? ['`invoke` has no effect with `integration_mode: handoff`: the agent of the manifest talks to the person']
      : []),
  ]
  return { capabilities: new Set(found.flatMap(([capability, is]) => (is ? [capability] : []))), missing }
}
