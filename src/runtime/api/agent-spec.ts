import { type AgentSpec, defaultLimits, type InputContract, type OutputContract } from '../../contracts/index.ts'
import { plainJson } from '../../util/json-values.ts'
import { withFormat } from '../validation/check-contracts.ts'
import type { AgentDefinition, AgentLoopConfig } from './agent-config.ts'

/** An agent with all defaults, as a copy that the caller cannot change later. */
export function specOf(agent: AgentDefinition, { limits, skills = [] }: AgentLoopConfig): AgentSpec {
  const usable = skills.filter(({ name }) => agent.skills?.includes(name) ?? true)
  return {
    name: agent.name,
    ...(agent.displayName !== undefined && { displayName: agent.displayName }),
    description: agent.description,
    prompt: agent.prompt,
    models: agent.models ?? (agent.model === undefined ? [] : [agent.model]),
    tools: agent.tools ?? ['*'],
    limits: { ...defaultLimits, ...limits, ...agent.limits },
    ...((agent.limits?.toolTimeout ?? limits?.toolTimeout) !== undefined && { saysToolTimeout: true }),
    parameters: { ...agent.parameters, ...(agent.reasoningEffort !== undefined && { reasoning: agent.reasoningEffort }) },
    output: outputOf(agent.output),
    ...(agent.usage !== undefined && { usage: agent.usage }),
    toolName: agent.toolName ?? agent.name,
    input: inputOf(agent.input),
    agents: agent.agents ?? [],
    ...(usable.length > 0 && { skills: structuredClone(usable).toSorted((a, b) => (a.name < b.name ? -1 : 1)) }),
    ...(agent.approvals && agent.approvals.length > 0 && { approvals: structuredClone(agent.approvals) }),
    ...(agent.sandbox && { sandbox: structuredClone(agent.sandbox) }),
  }
}

/** Copies the schema: it becomes part of the journal. */
function outputOf(given: AgentDefinition['output'] = { format: 'markdown' }): OutputContract {
  const output = withFormat(given)
  return output.format === 'json' && output.schema ? { format: 'json', schema: plainJson(output.schema) ?? {} } : output
}

function inputOf(given: AgentDefinition['input'] = { format: 'text' }): InputContract {
  const input = withFormat(given)
  return input.format === 'json' ? { format: 'json', schema: plainJson(input.schema) ?? {} } : input
}
