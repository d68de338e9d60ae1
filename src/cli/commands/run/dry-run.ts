import { type AgentLimits, defaultLimits, type Json, type LimitName, limitNames, limitTable } from '../../../contracts/index.ts'
import { sentenceOf } from '../../../project/index.ts'
import { type AgentDefinition, type AgentLoopConfig, createAgentRuntime, systemClock } from '../../../runtime/index.ts'
import { showDuration, showSize } from '../../../util/parse-units.ts'
import { plural } from '../../../util/plural.ts'
import type { RunInvocation } from '../../arguments/parse-arguments.ts'
import { columns, type Row } from '../../terminal/columns.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { safeJson } from '../../terminal/safe-json.ts'
import type { DryRunDocument, PlannedMember } from '../output/run-documents.ts'
import type { PreparedRun } from './prepare-run.ts'

/** Shows what would run. Calls no model, starts no agent and stores nothing. */
export async function dryRun(prepared: PreparedRun, { file, output }: RunInvocation, { stdout }: Host): Promise<number> {
  // In memory, only for the checks of its constructor.
  const { config, adapter, sandbox, hooks } = prepared.project
  await createAgentRuntime({
    config: withoutStarting(config),
    adapter,
    clock: systemClock,
    hooks,
    ...(sandbox && { sandbox }),
  }).close()
  const document = await documentOf(prepared, file)
  if (output === 'json') await stdout.line(safeJson(document))
  else await stdout.lines(linesOf(document, prepared.agent.toolName))
  return document.exitCode
}

/** No server is started ahead. */
function withoutStarting({ mcpServers = {}, agents, ...config }: AgentLoopConfig): AgentLoopConfig {
  const lazy = (servers: AgentLoopConfig['mcpServers'] = {}) =>
    Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, { ...server, connect: 'lazy' as const }]))
  return { ...config, mcpServers: lazy(mcpServers), agents: agents.map((agent) => ({ ...agent, mcpServers: lazy(agent.mcpServers) })) }
}

async function documentOf({ agent, project, prompt, ...prepared }: PreparedRun, file: string): Promise<DryRunDocument> {
  const { config, adapter, folder } = project
  const models = await Promise.all(
    agent.models.map(async (name) => {
      const { id, abilities, contextTokens } = await adapter.resolve(name)
      return { name, id, abilities, ...(contextTokens !== undefined && { contextTokens }) }
    }),
  )
  return {
    ok: true,
    dryRun: true,
    agent: { name: agent.name, description: agent.description, file, promptChars: agent.prompt.length },
    models,
    parameters: agent.parameters,
    limits: limitsOf(agent.limits),
    output: agent.output,
    tools: agent.tools,
    team: teamOf(config.agents, agent.name),
    requestChars: prompt.length,
    journal: folder,
    notices: [...prepared.notices, ...project.diagnostics.map(sentenceOf), ...prepared.warnings],
    exitCode: exitCodes.done.code,
  }
}

/** Agents under their tool names. */
function teamOf(agents: readonly AgentDefinition[], root: string): readonly PlannedMember[] {
  const shown = new Map(agents.map(({ name, toolName = name }) => [name, toolName]))
  return agents
    .filter(({ name }) => name !== root)
    .map(({ name, toolName = name, model, models = model === undefined ? [] : [model], tools = [], agents: called = [] }) => ({
      name: toolName,
      models,
      tools,
      agents: called.map((each) => shown.get(each) ?? each),
    }))
}

/** In the order of the reference. */
function limitsOf(stated: Partial<AgentLimits>): AgentLimits {
  const limits: AgentLimits = { ...defaultLimits, ...stated }
  return Object.fromEntries(limitNames.flatMap((name) => (limits[name] === undefined ? [] : [[name, limits[name]]]))) as AgentLimits
}

function linesOf(document: DryRunDocument, toolName: string): readonly string[] {
  const { agent, models, parameters, limits, output, tools, team, requestChars, journal } = document
  const rows: Row[] = [
    ['agent', `${toolName} (${agent.file}): ${agent.description}`],
    ...models.map(({ name, id, contextTokens }, index): Row => {
      const more = [...(id === name ? [] : [`resolves to ${id}`]), ...(contextTokens === undefined ? [] : [`${contextTokens} tokens`])]
      return [index === 0 ? 'models' : '', `${index + 1}. ${name}${more.length > 0 ? ` (${more.join(', ')})` : ''}`]
    }),
    ['parameters', listed(parameters, String) || 'defaults of the provider'],
    ['limits', listed(limits, (value, key) => limitText(key as LimitName, Number(value)))],
    ['output', outputText(output)],
    ['tools', tools.join(', ') || 'none'],
    ...team.map((member, index): Row => [index === 0 ? 'agents' : '', memberText(member)]),
    ['prompt', `${plural(agent.promptChars, 'character')} in the file, ${requestChars} in the request`],
    ['journal', journal],
  ]
  const safe = rows.map(([left, right]): Row => [left, printable(right)])
  return ['This would run. No model was called and nothing was stored.', '', ...columns(safe)]
}

const memberText = ({ name, models, tools, agents }: PlannedMember): string =>
  [
    `${name}: ${models.join(', ')}`,
    ...(tools.length > 0 ? [`tools ${tools.join(', ')}`] : []),
    ...(agents.length > 0 ? [`calls ${agents.join(', ')}`] : []),
  ].join(' · ')

function listed(values: object, show: (value: unknown, key: string) => string): string {
  return Object.entries(values)
    .map(([key, value]) => `${key}=${show(value, key)}`)
    .join(', ')
}

function outputText(output: DryRunDocument['output']): string {
  const schema: Json | undefined = output.format === 'json' ? (output.schema as Json | undefined) : undefined
  return schema === undefined ? output.format : `json that matches ${JSON.stringify(schema)}`
}

function limitText(name: LimitName, value: number): string {
  const { kind } = limitTable[name]
  return kind === 'size' ? showSize(value) : kind === 'duration' ? showDuration(value) : String(value)
}
