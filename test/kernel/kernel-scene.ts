import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AnyExtension, ModelAdapter, Outcome, Tool } from '../../src/contracts/index.ts'
import { type FoundExtension, Kernel, type KernelOptions } from '../../src/kernel/index.ts'
import type { AgentSection, ExtensionManifest, KernelDiagnostic } from '../../src/kernel/shared/kernel-types.ts'
import { type AgentDefinition, type AgentRuntime, createAgentRuntime, type RuntimeOptions } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, ScriptedModel, type ScriptedStepSource, sequentialIds } from '../../src/testing/index.ts'

export interface TestExtension {
  readonly id: string
  readonly instance?: AnyExtension
  readonly agent?: Partial<Omit<AgentSection, 'limits'>> & { readonly limits?: Partial<AgentSection['limits']> }
  readonly manifest?: Partial<ExtensionManifest>
  readonly found?: Partial<FoundExtension>
}

export interface SceneOptions {
  readonly extensions: readonly TestExtension[]
  /** Steps of each model by its name. `main` is the model of the orchestrator. */
  readonly models: { readonly [name: string]: readonly ScriptedStepSource[] }
  readonly projectAgents?: readonly AgentDefinition[]
  readonly orchestrator?: Partial<AgentDefinition>
  readonly runtime?: Partial<RuntimeOptions>
  readonly kernel?: Partial<KernelOptions>
  readonly tools?: readonly Tool[]
  /** The store of an earlier scene: it continues its sessions. */
  readonly store?: ReturnType<typeof memoryStore>
}

export interface Scene {
  readonly kernel: Kernel
  readonly runtime: AgentRuntime
  readonly clock: FakeClock
  readonly models: { readonly [name: string]: ScriptedModel }
  readonly diagnostics: KernelDiagnostic[]
  readonly store: ReturnType<typeof memoryStore>
  /** Asks the orchestrator. */
  ask(text: string): Promise<Outcome>
  close(): Promise<void>
}

const limits = { maxTurns: 10, maxTokensPerInvocation: 50_000, timeBudgetMs: 120_000, idleMs: 1_800_000 }

export const manifestOf = ({ id, agent, manifest }: TestExtension): ExtensionManifest => ({
  id,
  name: id,
  version: '1.0.0',
  description: `Description of ${id}`,
  dependsOn: [],
  visibility: 'all',
  permissions: { hosts: [], read: [], write: [] },
  config: {},
  secrets: [],
  enabled: true,
  schedules: [],
  events: [],
  entrypoint: { file: 'main', className: 'Main' },
  ...(agent && {
    agent: {
      integrationMode: 'tool',
      model: 'small',
      instructions: `You are ${id}.`,
      parameters: {},
      usesTools: [],
      ...agent,
      limits: { ...limits, ...agent.limits },
    },
  }),
  ...manifest,
})

/** A kernel with extensions that are objects of the test, on a real runtime with scripted models. */
export async function kernelScene(options: SceneOptions): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'kernel-'))
  const clock = new FakeClock()
  const store = options.store ?? memoryStore()
  const diagnostics: KernelDiagnostic[] = []
  const models = Object.fromEntries(
    Object.entries(options.models).map(([name, steps]) => [name, new ScriptedModel(steps, { id: `scripted/${name}` })]),
  )
  const adapter: ModelAdapter = {
    resolve(name) {
      const model = models[name]
      if (!model) throw new Error(`there is no model ${name}`)
      return model
    },
  }
  const instances = new Map(options.extensions.map(({ id, instance = {} }) => [id, instance]))
  const kernel = new Kernel({
    found: options.extensions.map((each) => ({
      id: each.id,
      folder: join(folder, each.id),
      source: 'project',
      hash: each.id,
      trusted: true,
      permitted: true,
      problems: [],
      manifest: manifestOf(each),
      ...each.found,
    })),
    openTrusted: async ({ id }) => ({ runs: 'kernel', instance: instances.get(id) ?? {}, close: async () => {} }),
    store,
    clock,
    ids: sequentialIds(),
    workspace: folder,
    dataFolder: join(folder, 'data'),
    extensionsFolder: join(folder, 'extensions'),
    supervisor: {
      requestRestart: async () => {},
      requestShutdown: async () => {},
      loading: () => {},
      ready: () => {},
      enter: (_id, _stage, work) => work(),
    },
    logger: () => ({ debug() {}, info() {}, warn() {}, error() {} }),
    secret: () => undefined,
    storedConfig: () => ({}),
    builtinTools: () => [],
    validate: async () => [],
    sandboxProblem: async () => undefined,
    onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
    ...options.kernel,
  })
  await kernel.load()
  const orchestrator: AgentDefinition = {
    name: 'orchestrator',
    description: 'Answers',
    prompt: 'You are the orchestrator.',
    model: 'main',
    tools: [],
    ...options.orchestrator,
  }
  const projectAgents = options.projectAgents ?? []
  const { config, hooks } = await kernel.config({
    config: { agents: [orchestrator, ...projectAgents], ...(options.tools && { tools: options.tools }) },
    served: ['orchestrator', ...projectAgents.map(({ name }) => name)],
    resolveModel: (name) => adapter.resolve(name),
  })
  const runtime = createAgentRuntime({ config, adapter, store, clock, hooks, ...options.runtime })
  await kernel.attach(runtime.sessions)
  await kernel.start()
  return {
    ...{ kernel, runtime, clock, models, diagnostics, store },
    ask: (text) => runtime.run(text, { agent: 'orchestrator' }),
    async close() {
      await kernel.stop()
      await runtime.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Names of the tools in a request. */
export const toolNames = (model: ScriptedModel | undefined, index = 0): readonly string[] =>
  (model?.requests[index]?.tools ?? []).map(({ name }) => name).toSorted()

/** Everything that a request contains, as text. */
export const requestText = (model: ScriptedModel | undefined, index = 0): string => JSON.stringify(model?.requests[index] ?? {})
