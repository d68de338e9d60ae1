import { type Problem, TroupeError } from '../contracts/index.ts'
import type { AgentDefinition, AgentLoopConfig } from '../runtime/index.ts'
import { agentTemplate } from './agent-file/agent-template.ts'
import { type RegisteredAgent, registeredTemplate } from './registry/registered-agent.ts'

/** Refuses a project without an agent that can be asked, and agents whose clients could not know what to send. */
export function checkServed(offered: readonly RegisteredAgent[]): void {
  if (offered.length === 0)
    throw new TroupeError('usage', 'There is no agent to serve.', {
      remedy: 'Name one with --agent FILE, or create a sample project: troupe init',
    })
  throwProblems(offered.flatMap(missingUsage))
}

/** Refuses agents whose name is a word of a route: `/v1/sessions` cannot be an agent. */
export function checkServedNames(agents: readonly RegisteredAgent[], served: readonly string[], reserved: ReadonlySet<string>): void {
  const offered = agents.filter(({ definition }) => served.includes(definition.name))
  throwProblems(
    offered.flatMap(({ definition: { name }, place }) => {
      if (!reserved.has(name)) return []
      return [{ place, message: `an agent with the name \`${name}\` cannot be served: /v1/${name} is a route`, remedy: 'Rename the file.' }]
    }),
  )
}

function missingUsage({ definition: { usage }, place, dialect }: RegisteredAgent): readonly Problem[] {
  if (usage !== undefined || dialect !== 'troupe') return []
  const remedy = 'Add an example of its input: `usage: a city and a date`.'
  return [{ place, message: '`usage` is missing: agents that are served need it', remedy }]
}

function throwProblems(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new TroupeError('agent_file_invalid', 'Some agents cannot be served.', { problems })
}

/** Only agents that can be asked answer without a name. Servers of a process that runs for long are connected early. */
export function servedConfig(config: AgentLoopConfig, agents: readonly RegisteredAgent[], served: readonly string[]): AgentLoopConfig {
  const templates = new Map(agents.map((agent) => [agent.definition.name, agentTemplate(registeredTemplate(agent))]))
  return {
    ...config,
    ...(config.mcpServers && { mcpServers: connectedEarly(config.mcpServers) }),
    agents: config.agents.map(({ mcpServers, ...agent }) => {
      const template = templates.get(agent.name)
      return {
        ...agent,
        infer: served.includes(agent.name),
        ...(template !== undefined && { template }),
        ...(mcpServers && { mcpServers: connectedEarly(mcpServers) }),
      }
    }),
  }
}

type Servers = NonNullable<AgentDefinition['mcpServers']>

/** A server that runs for long connects before the first session needs it. */
const connectedEarly = (servers: Servers): Servers =>
  Object.fromEntries(Object.entries(servers).map(([name, settings]) => [name, { connect: 'eager', ...settings }]))
