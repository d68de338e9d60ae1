import type { ExtensionProblem, ExtensionStatus, Hook, Tool } from '../../contracts/index.ts'
import { orchestratorName } from '../../policy/orchestrator-name.ts'
import { matchesSource, matchesTool } from '../../policy/tool-name-patterns.ts'
import type { AgentDefinition, AgentLoopConfig } from '../../runtime/index.ts'
import { messageOf } from '../../util/message-of.ts'
import { insideCall } from '../calls/current-call.ts'
import { handoffTool, returnControlTool } from '../handoff/handoff-tool.ts'
import type { LoadedExtension } from '../shared/kernel-types.ts'
import { agentDescription } from './extension-agents.ts'
import { listExtensionsTool } from './list-extensions-tool.ts'
import { agentDefinition, agentModel, autoModel, orchestratorDefinition } from './orchestrator-definition.ts'

/** The agents of the project, without the kernel. */
export interface KernelBase {
  readonly config: AgentLoopConfig
  /** Names of those that can be asked. One of them is the orchestrator. */
  readonly served: readonly string[]
  /** @throws if the model cannot be used. */
  resolveModel(name: string): unknown
}

export interface KernelConfig {
  readonly config: AgentLoopConfig
  readonly served: readonly string[]
  readonly hooks: readonly Hook[]
}

interface KernelParts {
  /** Those that run. */
  readonly extensions: readonly LoadedExtension[]
  readonly unusable: ReadonlyMap<string, ExtensionProblem>
  toolOf(extension: LoadedExtension, handoff: Tool | undefined): Tool
  status(): readonly ExtensionStatus[]
}

/** The configuration of the project with the orchestrator, and the agents and tools of extensions. */
export function kernelConfig(
  { config, served }: KernelBase,
  { extensions, unusable, toolOf, status }: KernelParts,
): Omit<KernelConfig, 'hooks'> {
  const agents = extensions.filter(({ found }) => found.manifest?.agent && !unusable.has(found.id))
  const callable = new Set(agents.map(({ found }) => found.id))
  const tools = extensions.flatMap((each) => each.tools.map(withCall))
  const own = config.agents.map((agent) => withoutTools(agent, [...tools, returnControlTool], config))
  const base = own.find(({ name }) => name === orchestratorName)
  const others = own.filter((agent) => agent !== base)
  const projectAgents = others.filter(({ name }) => served.includes(name) && !base?.agents?.includes(name))
  const orchestrator = base && orchestratorDefinition({ extensions, agents: callable, projectAgents, base })
  const given = config.tools ?? []
  return {
    config: {
      ...config,
      ...(orchestrator && { agentSelection: config.agentSelection ?? { agent: orchestratorName } }),
      tools: [
        ...given,
        ...tools,
        ...agents.map((each) => toolOf(each, handoffToolOf(each))),
        returnControlTool,
        listExtensionsTool(status),
      ],
      agents: [
        ...(orchestrator ? [orchestrator] : []),
        ...others,
        ...agents.flatMap((each) => agentDefinition(each, { callable, orchestrator }) ?? []),
      ],
    },
    served: [...served, ...callable],
  }
}

/** Agents that cannot run, by extension. A model that cannot be used costs its agent, and nothing else. */
export async function unusableAgents(
  extensions: readonly LoadedExtension[],
  { config, resolveModel }: KernelBase,
): Promise<ReadonlyMap<string, ExtensionProblem>> {
  const taken = new Set(config.agents.map(({ name }) => name))
  const models = new Map<string, ReturnType<typeof modelProblem>>()
  const problemOf = async ({ found }: LoadedExtension) => {
    const { id } = found
    if (taken.has(id)) return { message: `the project has an agent \`${id}\`, which is used instead`, remedy: 'Rename one of them.' }
    const model = agentModel(found) ?? ''
    // The models of the orchestrator are checked.
    if (model === autoModel && taken.has(orchestratorName)) return undefined
    if (!models.has(model)) models.set(model, modelProblem(model, resolveModel))
    return models.get(model)
  }
  const unusable = new Map<string, ExtensionProblem>()
  for (const extension of extensions.filter(({ found }) => found.manifest?.agent)) {
    const problem = await problemOf(extension)
    if (problem) unusable.set(extension.found.id, { place: `${extension.found.folder}/manifest.yaml`, ...problem })
  }
  return unusable
}

async function modelProblem(model: string, resolveModel: KernelBase['resolveModel']): Promise<Omit<ExtensionProblem, 'place'> | undefined> {
  try {
    await resolveModel(model)
    return undefined
  } catch (error) {
    const { remedy } = error as { readonly remedy?: string }
    return { message: `the model ${model} cannot be used: ${messageOf(error)}`, ...(remedy !== undefined && { remedy }) }
  }
}

/** Code of the tool finds the call, for `startAgent`. */
const withCall = (tool: Tool): Tool => ({
  ...tool,
  execute: (input, context) => insideCall({ context }, () => tool.execute(input, context)),
})

/** For agents that talk to the person. */
function handoffToolOf(extension: LoadedExtension): Tool | undefined {
  const { id, manifest } = extension.found
  const { integrationMode, limits } = manifest?.agent ?? {}
  if (!limits || integrationMode !== 'handoff') return undefined
  return handoffTool({ agent: id, description: agentDescription(extension), limits })
}

/** Agents of the project have no tools of extensions, whatever their patterns match: `*` becomes what it was without extensions. */
function withoutTools(
  agent: AgentDefinition,
  tools: readonly Tool[],
  { tools: given = [], mcpServers = {} }: AgentLoopConfig,
): AgentDefinition {
  const { tools: wanted = ['*'] } = agent
  if (!wanted.some((pattern) => tools.some(({ name }) => matchesTool(pattern, name)))) return agent
  const names = given.flatMap((each) => ('execute' in each ? [each.name] : []))
  const sources = [...given.flatMap((each) => ('open' in each ? [each.name] : [])), ...Object.keys({ ...mcpServers, ...agent.mcpServers })]
  const expanded = wanted.flatMap((pattern) =>
    pattern.includes('*')
      ? [
          ...names.filter((name) => matchesTool(pattern, name)),
          ...sources.filter((source) => matchesSource(pattern, source)).map((source) => `${source}/*`),
        ]
      : tools.some(({ name }) => matchesTool(pattern, name))
        ? []
        : [pattern],
  )
  return { ...agent, tools: [...new Set(expanded)] }
}
