import { dirname, resolve } from 'node:path'
import { type JsonObject, TroupeError } from '../../contracts/index.ts'
import { toAgentSettings } from '../agent-file/agent-file.ts'
import { withSchemaFiles } from '../agent-file/schema-files.ts'
import { detectDialect } from '../dialects/detect-dialect.ts'
import type { Dialect, ForeignAgent } from '../dialects/foreign-agent.ts'
import { foreignRules, grantedServerTools, grantedTools, trustRemedy, untrusted } from '../dialects/granted-tools.ts'
import { parseForeignAgent } from '../dialects/parse-foreign-agent.ts'
import type { AgentOptionKey } from '../options/agent-options.ts'
import { locationOf, mergeLayers, type OptionValue, type OptionValues } from '../options/option-values.ts'
import { type AgentDiagnostic, warningOf } from './agent-diagnostic.ts'
import { isOwnFile, readContent } from './agent-paths.ts'
import { foreignServers } from './agent-servers.ts'
import type { Confined } from './confinement.ts'
import { ineffectiveSettings } from './ineffective-settings.ts'
import { readSchemaText, withWritable } from './load-own-file.ts'
import type { ChildReference, FileToRead, LoadContext, Loading } from './loaded-file.ts'
import { scriptProblems, scriptsBeside } from './script-paths.ts'

interface ForeignSurroundings {
  readonly dialect: Dialect
  readonly isTrusted: boolean
  readonly context: LoadContext
  /** Where its scripts must be. */
  readonly within: Confined | undefined
}

const agentPrefix = 'agent__'

/** By path and beginning of the file; `undefined` if it is not an agent. */
export const dialectIn = (path: string, bytes: Uint8Array): Dialect | undefined =>
  detectDialect(path, new TextDecoder().decode(bytes.subarray(0, 32_768)))

/** Reads an agent file of another program. Unsupported settings are reported and never loosen anything. */
export function loadForeignFile(file: FileToRead, surroundings: ForeignSurroundings): Loading {
  const { path, place, bytes } = file
  const { dialect, isTrusted, context, within } = surroundings
  try {
    const parsed = parseForeignAgent(bytes, place, { dialect, models: context.models })
    const withoutTrust = untrusted(parsed, place, context.tools)
    const agent = isTrusted ? parsed : withoutTrust
    const otherwise = isTrusted ? withoutTrust : parsed
    const own = foreignServers(agent.mcpServers ?? [], place)
    const servers = [...context.sources, ...Object.keys(own.servers)]
    const stated = mergeLayers({
      overrides: context.over,
      file: ownValues(agent, { tools: context.tools, servers, own: own.servers }, place),
      defaults: context.defaults,
    })
    const { values, problems } = withSchemaFiles(stated, (schema) => readSchemaText(resolve(dirname(path), schema)))
    const scripts = scriptProblems(values, path, within)
    if (problems.length + scripts.length > 0) return { ok: false, problems: [...problems, ...scripts] }
    const { name, displayName, prompt, metadata } = agent
    const stating = { ...toAgentSettings(values), models: scriptsBeside(toAgentSettings(values).models, values, { path, context }) }
    const folders = { file: dirname(path), over: context.workingDirectory }
    const parts = withWritable(stating, values, folders)
    // Overrides apply with and without trust.
    const toolsOtherwise =
      values.get('tools')?.precedence === 'file'
        ? [...grantedTools(otherwise, context.tools), ...grantedServerTools(otherwise, servers)]
        : parts.tools
    const trust = { isGiven: isTrusted, place, toolsOtherwise, remedy: trustRemedy(place) }
    return {
      ok: true,
      file: {
        path,
        place,
        dialect,
        agent: { name, ...(displayName !== undefined && { displayName }), toolName: name, prompt, ...parts, trust },
        children: childrenOf(values.get('agents'), agent, place),
        disabledSkills: (values.get('disabledSkills')?.value as readonly string[] | undefined) ?? [],
        enabled: values.get('enabled')?.value !== false,
        isForPeople: agent.infer === false,
        metadata,
        values,
        at: { place },
        promptLine: 1,
        diagnostics: [
          ...agent.warnings.map((problem, index) =>
            warningOf(problem, index < parsed.warnings.length ? 'foreign_agent' : 'agent_untrusted'),
          ),
          ...own.diagnostics,
          ...unknownServers(agent, servers, place),
          ...ineffectiveSettings(new Map([...values].filter(([, { precedence }]) => precedence === 'override')), {
            policy: context.sandbox,
            ...folders,
          }),
        ],
      },
    }
  } catch (error) {
    if (error instanceof TroupeError) return { ok: false, problems: error.problems }
    throw error
  }
}

/** The settings of the file as our options. */
interface Offered {
  readonly tools: readonly string[]
  /** Names of servers. */
  readonly servers: readonly string[]
  /** The servers of the file. */
  readonly own: JsonObject
}

function ownValues(agent: ForeignAgent, { tools, servers, own }: Offered, place: string): OptionValues {
  const settings: { readonly [Key in AgentOptionKey]?: unknown } = {
    description: agent.description,
    usage: agent.usage,
    models: agent.models,
    tools: [...grantedTools(agent, tools), ...grantedServerTools(agent, servers)],
    mcpServers: Object.keys(own).length > 0 ? own : undefined,
    skills: agent.skills,
    'approvals.rules': foreignRules(agent),
    'sandbox.mode': agent.sandbox?.mode,
    'sandbox.hosts': agent.sandbox?.hosts,
    'sandbox.writable': agent.sandbox?.writable,
    'limits.maxToolTurns': agent.maxToolTurns,
    'limits.timeBudget': agent.timeBudgetMs,
    'parameters.temperature': agent.temperature,
    'parameters.topP': agent.topP,
    'parameters.reasoning': agent.reasoning,
    enabled: agent.enabled,
  }
  return new Map(
    Object.entries(settings).flatMap(([key, value]): readonly [AgentOptionKey, OptionValue][] =>
      value === undefined ? [] : [[key as AgentOptionKey, { value, place, precedence: 'file' }]],
    ),
  )
}

/** Only agents that are named: permission to call any agent makes no team. */
function childrenOf(over: OptionValue | undefined, agent: ForeignAgent, place: string): readonly ChildReference[] {
  if (over) return (over.value as readonly string[]).map((written, index) => ({ written, ...locationOf(over, index) }))
  const { agents, tools, deniedTools } = agent
  const named = tools.kind === 'only' ? tools.names.filter((name) => name.startsWith(agentPrefix) && !name.endsWith('*')) : []
  const names = agents ?? named.map((name) => name.slice(agentPrefix.length))
  const isAllowed = (name: string): boolean => ![name, '*'].some((each) => deniedTools.includes(`${agentPrefix}${each}`))
  return [...new Set(names.filter(isAllowed))].map((written) => ({ written, place, isOptional: true }))
}

/** Servers that the file names and nobody has configured. */
function unknownServers({ tools, mcpServers = [] }: ForeignAgent, known: readonly string[], place: string): readonly AgentDiagnostic[] {
  const used = tools.kind === 'only' ? tools.names.flatMap((name) => (name.includes('/') ? [name.slice(0, name.indexOf('/'))] : [])) : []
  const named = mcpServers.flatMap(({ name, config }) => (config ? [] : [name]))
  const missing = [...new Set([...used, ...named])].filter((name) => name !== '*' && !known.includes(name))
  return missing.map((name) =>
    warningOf(
      {
        place,
        message: `no MCP server \`${name}\` is configured`,
        remedy: 'Add it to `mcpServers` in `.ai-agent.json`, or to `.mcp.json`.',
      },
      'foreign_agent',
    ),
  )
}

/** Whether a file in a folder of agents is an agent. */
export function isAgentFile(path: string): boolean {
  if (isOwnFile(path)) return true
  const content = readContent(path)
  // Loading reports unreadable files.
  return !content.ok || looksLikeAgent(path, content.bytes)
}

export const looksLikeAgent = (path: string, bytes: Uint8Array): boolean => isOwnFile(path) || dialectIn(path, bytes) !== undefined
