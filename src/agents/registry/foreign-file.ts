import { dirname, resolve } from 'node:path'
import { type Problem, TroupeError } from '../../contracts/index.ts'
import type { AgentOptionKey } from '../agent-options.ts'
import { agentParts } from '../agent-parts.ts'
import { type Dialect, dialectOf, type ForeignAgent, grantedTools, parseForeignAgent, untrusted } from '../dialects/index.ts'
import { layered } from '../layer-values.ts'
import { type PlacedValue, type PlacedValues, spotOf } from '../placed-value.ts'
import { withSchemaFiles } from '../schema-files.ts'
import type { AgentDiagnostic } from './diagnostic.ts'
import type { ChildReference, Loading } from './loaded-file.ts'
import { type FileToRead, readSchemaText, type Voices } from './own-file.ts'

export interface ForeignSurroundings {
  readonly dialect: Dialect
  readonly isTrusted: boolean
  /** The tools that there are. */
  readonly tools: readonly string[]
  readonly voices: Voices
}

const agentPrefix = 'agent__'

/** For which program a file was written, by its place and its beginning; nothing where it is no agent. */
export const dialectIn = (path: string, bytes: Uint8Array): Dialect | undefined =>
  dialectOf(path, new TextDecoder().decode(bytes.subarray(0, 32_768)))

/** Reads an agent that was written for another program. What it says and we cannot do is told, and taken stricter. */
export function loadForeignFile(file: FileToRead, { dialect, isTrusted, tools, voices }: ForeignSurroundings): Loading {
  const { path, place, bytes } = file
  try {
    const parsed = parseForeignAgent(bytes, place, dialect)
    const agent = isTrusted ? parsed : untrusted(parsed, place)
    const stated = layered({ over: voices.over, own: ownValues(agent, tools, place), defaults: voices.defaults })
    const { values, problems } = withSchemaFiles(stated, (schema) => readSchemaText(resolve(dirname(path), schema)))
    if (problems.length > 0) return { ok: false, problems, path, children: [] }
    const { name, displayName, prompt, metadata } = agent
    return {
      ok: true,
      file: {
        path,
        place,
        dialect,
        agent: { name, ...(displayName !== undefined && { displayName }), toolName: name, prompt, ...agentParts(values) },
        children: childrenOf(values.get('agents'), agent, place),
        enabled: values.get('enabled')?.value !== false,
        metadata,
        values,
        at: { place },
        promptLine: 1,
        diagnostics: [
          ...agent.warnings.map((problem, index) => told(problem, index < parsed.warnings.length ? 'foreign_agent' : 'agent_untrusted')),
          ...notDone(agent, place),
        ],
      },
    }
  } catch (error) {
    if (error instanceof TroupeError) return { ok: false, problems: error.problems, path, children: [] }
    throw error
  }
}

/** What the file says under our names. */
function ownValues(agent: ForeignAgent, tools: readonly string[], place: string): PlacedValues {
  const said: { readonly [Key in AgentOptionKey]?: unknown } = {
    description: agent.description,
    usage: agent.usage,
    models: agent.models,
    tools: offered(agent, tools),
    'limits.maxToolTurns': agent.maxToolTurns,
    'limits.timeBudget': agent.timeBudgetMs,
    'parameters.temperature': agent.temperature,
    'parameters.topP': agent.topP,
    'parameters.reasoning': agent.reasoning,
    enabled: agent.enabled,
  }
  return new Map(
    Object.entries(said).flatMap(([key, value]): readonly [AgentOptionKey, PlacedValue][] =>
      value === undefined ? [] : [[key as AgentOptionKey, { value, place, rank: 'file' }]],
    ),
  )
}

/** What somebody should be asked about is withheld as long as nobody can be asked about it. */
function offered(agent: ForeignAgent, tools: readonly string[]): readonly string[] {
  const asked = new Set(grantedTools({ tools: { kind: 'only', names: agent.askTools }, deniedTools: [] }, tools))
  return grantedTools(agent, tools).filter((name) => !asked.has(name))
}

/** Only agents that are named: to be let call every other one is no team. */
function childrenOf(over: PlacedValue | undefined, agent: ForeignAgent, place: string): readonly ChildReference[] {
  if (over) return (over.value as readonly string[]).map((written, index) => ({ written, ...spotOf(over, index) }))
  const { agents, tools, deniedTools } = agent
  const named = tools.kind === 'only' ? tools.names.filter((name) => name.startsWith(agentPrefix) && !name.endsWith('*')) : []
  const names = agents ?? named.map((name) => name.slice(agentPrefix.length))
  const isAllowed = (name: string): boolean => ![name, '*'].some((each) => deniedTools.includes(`${agentPrefix}${each}`))
  return [...new Set(names.filter(isAllowed))].map((written) => ({ written, place, isOptional: true }))
}

function notDone({ mcpServers = [], skills = [], askTools }: ForeignAgent, place: string): readonly AgentDiagnostic[] {
  const lost = [
    ...(mcpServers.length > 0 ? [`its servers are not started: ${mcpServers.map(({ name }) => name).join(', ')}`] : []),
    ...(skills.length > 0 ? [`its skills are not loaded: ${skills.join(', ')}`] : []),
    ...(askTools.length > 0 ? [`tools that a person is to be asked about are withheld: ${askTools.join(', ')}`] : []),
  ]
  return lost.map((message) => ({
    code: 'foreign_agent',
    severity: 'warning',
    place,
    message: `${message}; this is not yet available`,
  }))
}

function told({ place, message, remedy }: Problem, code: AgentDiagnostic['code']): AgentDiagnostic {
  return { code, severity: 'warning', place, message, ...(remedy !== undefined && { remedy }) }
}
