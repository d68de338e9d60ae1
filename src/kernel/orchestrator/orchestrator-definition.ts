import { resolve } from 'node:path'
import type { AgentDefinition } from '../../runtime/index.ts'
import { returnControlName } from '../handoff/handoff-rules.ts'
import type { FoundExtension, LoadedExtension } from '../shared/kernel-types.ts'
import { capabilitySummary, describedExtension } from './capability-summary.ts'
import { agentDescription } from './extension-agents.ts'
import { listExtensionsName } from './list-extensions-tool.ts'

/** The default agent file of the orchestrator, without the capabilities. */
export const orchestratorPrompt = `You are the assistant of one person. You answer directly, use tools, or give tasks to agents.

- Choose the most specific agent for a task. An agent sees only what you write in the task: include all it needs.
- Read the result of an agent before you use it. If it failed, say why, try another way, or ask the person.
- Before an action that cannot be undone, make sure that the person wants it.
- If something does not work, call ${listExtensionsName}: it shows problems of extensions and how to fix them.
- Answer briefly, in the language of the person.`

export const orchestratorDescription = 'Answers people, with the tools and agents of the extensions'

interface OrchestratorParts {
  /** Those that run. */
  readonly extensions: readonly LoadedExtension[]
  /** Ids of extensions whose agents can be called. */
  readonly agents: ReadonlySet<string>
  /** Agents of the project that it can call. */
  readonly projectAgents: readonly Pick<AgentDefinition, 'name' | 'description'>[]
  /** A definition with prompt, models and limits: that of the project, or the default. */
  readonly base: AgentDefinition
}

/** The orchestrator: tools and agents are added to its definition. */
export function orchestratorDefinition({ extensions, agents, projectAgents, base }: OrchestratorParts): AgentDefinition {
  const offering = extensions.filter(({ tools, found }) => tools.length > 0 && found.manifest?.visibility === 'all')
  const called = extensions.filter(({ found }) => agents.has(found.id))
  const summary = capabilitySummary(offering.map(describedExtension), [
    ...called.map(describedExtension),
    ...projectAgents.map(({ name, description }) => ({ id: name, text: description })),
  ])
  const names = [...(base.agents ?? []), ...called.map(({ found }) => found.id), ...projectAgents.map(({ name }) => name)]
  return {
    ...base,
    prompt: summary === '' ? base.prompt : `${base.prompt}\n\n${summary}`,
    tools: [...(base.tools ?? []), listExtensionsName, ...offering.flatMap(({ tools }) => tools.map(({ name }) => name))],
    agents: [...new Set(names)],
    infer: true,
  }
}

/** The model of an agent that uses those of the orchestrator. */
export const autoModel = 'auto'

/** As the project resolves it: the path of a script is relative to the manifest. */
export function agentModel({ folder, manifest }: Pick<FoundExtension, 'folder' | 'manifest'>): string | undefined {
  const model = manifest?.agent?.model
  const script = model === undefined ? undefined : /^script\/(.+)/.exec(model)?.[1]
  return script === undefined ? model : `script/${resolve(folder, script)}`
}

interface AgentTeam {
  /** The agents that can be called. */
  readonly callable: ReadonlySet<string>
  readonly orchestrator: AgentDefinition | undefined
}

/** The agent of an extension. */
export function agentDefinition(extension: LoadedExtension, { callable, orchestrator }: AgentTeam): AgentDefinition | undefined {
  const { found, tools, resolvedTools, descriptor } = extension
  const { agent, description, name = found.id } = found.manifest ?? {}
  if (!agent) return undefined
  const { timeoutMs, ...parameters } = agent.parameters
  const { maxTurns, maxTokensPerInvocation, timeBudgetMs } = agent.limits
  const isHandoff = agent.integrationMode === 'handoff'
  return {
    name: found.id,
    displayName: descriptor?.name ?? name,
    description: agentDescription(extension),
    usage: 'a task, with all the context it needs',
    prompt: agent.instructions.trim() === '' ? `You are ${name}. ${description ?? ''}`.trim() : agent.instructions,
    ...(agent.model === autoModel && orchestrator ? modelsOf(orchestrator) : { model: agentModel(found) ?? autoModel }),
    tools: [...[...tools, ...resolvedTools].map((tool) => tool.name), ...(isHandoff ? [returnControlName] : [])],
    agents: agent.usesTools.filter((id) => callable.has(id)),
    skills: [],
    parameters,
    limits: {
      // In a handoff it limits the messages of the person.
      ...(!isHandoff && { maxToolTurns: maxTurns }),
      maxTokens: maxTokensPerInvocation,
      timeBudget: timeBudgetMs,
      ...(timeoutMs !== undefined && { replyTimeout: timeoutMs }),
    },
    infer: true,
  }
}

const modelsOf = ({ model, models }: AgentDefinition): Pick<AgentDefinition, 'model' | 'models'> => ({
  ...(model !== undefined && { model }),
  ...(models && { models }),
})
