// The one list of agent options. Reading, overriding, help, schema and reference are made from it.
import {
  defaultSandboxPolicy,
  exampleLimits,
  type LimitName,
  type LimitSpec,
  limitNames,
  limitTable,
  type ModelParameters,
  parameterBounds,
  reasoningEfforts,
  type SandboxPolicy,
} from '../../contracts/index.ts'
import { showDuration, showSize } from '../../util/parse-units.ts'
import type { ValueType } from '../values/read-value.ts'

export interface AgentOption {
  readonly type: ValueType
  readonly summary: string
  /** What applies if nothing sets it, for people. */
  readonly default: string
  /** A value as it is written in an agent file. */
  readonly example: string
  /** The option that this key is an alias of. */
  readonly sameAs?: AgentOptionKey
  /** A flag of `troupe run` that sets it. */
  readonly flag?: { readonly name: string; readonly value: string }
}

export type AgentOptionKey =
  | 'description'
  | 'usage'
  | 'examples'
  | 'toolName'
  | 'models'
  | `parameters.${keyof ModelParameters | 'timeout'}`
  | 'overrides'
  | `input.${'format' | 'schema' | 'schemaRef'}`
  | `output.${'format' | 'schema' | 'schemaRef'}`
  | 'tools'
  | 'mcpServers'
  | 'agents'
  | 'childControl'
  | 'clientTools'
  | 'keepSessions'
  | 'skills'
  | 'disabledSkills'
  | 'approvals.rules'
  | `sandbox.${keyof SandboxPolicy}`
  | `limits.${LimitName}`
  | 'enabled'
  | 'metadata'

/** Below this, hardly any program starts. */
const minMemory = 16 * 1024 ** 2
const text: ValueType = { kind: 'text' }
const boolean: ValueType = { kind: 'boolean' }
const duration: ValueType = { kind: 'duration' }
const schema: ValueType = { kind: 'schema' }
const file: ValueType = { kind: 'file' }
const provider = "the provider's default"
const session = "the session's"
const cityType = '{ type: object, properties: { city: { type: string } }, required: [city] }'

function limitDefault({ kind, default: fallback, childDefault }: LimitSpec): string {
  const show = kind === 'duration' ? showDuration : kind === 'size' ? showSize : String
  if (fallback !== undefined) return show(fallback)
  return childDefault === undefined ? 'none' : `none; ${show(childDefault)} if another agent calls it`
}

function limitOption(name: LimitName): AgentOption {
  const limit: LimitSpec = limitTable[name]
  const { summary, example, flag } = limit
  // In files, `false` and `true` are possible, too.
  const type: ValueType = name === 'parallelToolCalls' ? { kind: 'parallel' } : limit
  return { type, summary, default: limitDefault(limit), example, ...(flag && { flag }) }
}

const limitOptions = Object.fromEntries(limitNames.map((name) => [`limits.${name}`, limitOption(name)])) as {
  readonly [Name in LimitName as `limits.${Name}`]: AgentOption
}

export const agentOptions: { readonly [Key in AgentOptionKey]: AgentOption } = {
  description: { type: text, summary: 'what the agent does, in one line', default: 'required', example: 'Plans a trip by rail' },
  usage: {
    type: text,
    summary: 'an example of its input; required if other agents call it',
    default: 'none',
    example: 'a city and a date',
  },
  examples: {
    type: { kind: 'texts', ...exampleLimits },
    summary: `1 to ${exampleLimits.max} example prompts for people, each at most ${exampleLimits.maxChars} characters; the web chat offers them`,
    default: 'none',
    example: '[A weekend in Oslo by train, Which train leaves after 17:00?]',
  },
  toolName: {
    type: { kind: 'identifier' },
    summary: 'the name by which other agents call it; unique in a team',
    default: "the file's name",
    example: 'research.trips',
  },
  models: {
    type: { kind: 'names', of: 'model' },
    summary: 'the model, or several models in the order of fallback',
    default: 'auto',
    example: '[anthropic/claude-sonnet-5, openai/gpt-5.4-mini]',
  },
  'parameters.temperature': {
    type: parameterBounds.temperature,
    summary: 'sampling temperature',
    default: provider,
    example: '0.2',
  },
  'parameters.topP': { type: parameterBounds.topP, summary: 'nucleus sampling (top-p)', default: provider, example: '0.9' },
  'parameters.maxOutputTokens': {
    type: parameterBounds.maxOutputTokens,
    summary: 'maximum tokens of one reply',
    default: provider,
    example: '4000',
  },
  'parameters.reasoning': {
    type: { kind: 'choice', of: reasoningEfforts },
    summary: 'reasoning effort, for models that support it',
    default: provider,
    example: 'low',
  },
  'parameters.seed': { type: parameterBounds.seed, summary: 'seed for repeatable sampling', default: provider, example: '7' },
  'parameters.cache': {
    type: boolean,
    summary: 'ask the provider to cache the beginning of a request',
    default: 'true',
    example: 'false',
  },
  'parameters.timeout': {
    type: duration,
    summary: 'the same as `limits.llmTimeout`',
    default: 'limits.llmTimeout',
    example: '90s',
    sameAs: 'limits.llmTimeout',
  },
  overrides: {
    type: { kind: 'names', of: 'parameter' },
    summary: 'the parameters that callers of a server can set',
    default: 'none',
    example: '[temperature, reasoning]',
  },
  'input.format': {
    type: { kind: 'choice', of: ['text', 'json'] },
    summary: 'the format of the input from other agents; JSON is validated',
    default: 'text, or json if there is a schema',
    example: 'json',
  },
  'input.schema': { type: schema, summary: 'JSON Schema (2020-12) of the input, an object', default: 'none', example: cityType },
  'input.schemaRef': {
    type: file,
    summary: 'a JSON or YAML file with the input schema, relative to the agent file',
    default: 'none',
    example: './question.schema.json',
  },
  'output.format': {
    type: { kind: 'choice', of: ['markdown', 'text', 'json'] },
    summary: 'the format of the answer. Invalid JSON is sent back to the model. Required if other agents call this agent',
    default: 'markdown, or json if there is a schema',
    example: 'json',
  },
  'output.schema': { type: schema, summary: 'JSON Schema (2020-12) of the answer', default: 'none', example: cityType },
  'output.schemaRef': {
    type: file,
    summary: 'a JSON or YAML file with the output schema, relative to the agent file',
    default: 'none',
    example: './answer.schema.json',
  },
  tools: {
    type: { kind: 'patterns', of: 'tool' },
    summary:
      'the tools that it can use: names, prefixes with `*`, `*` for all, or modules with tools, relative to the agent file. A tool that cannot exist is an error, with `?` at the end of its entry a warning',
    default: 'none',
    example: '[web_fetch, "read_*", ./timetable.ts]',
  },
  mcpServers: {
    type: { kind: 'servers' },
    summary: 'MCP servers for this agent alone, besides those of the configuration; list their tools in `tools`',
    default: 'none',
    example: '{ files: { command: npx, args: [-y, some-server] } }',
  },
  agents: {
    type: { kind: 'references' },
    summary: 'the agents that it can call: files relative to the agent file, or names of configured agents',
    default: 'none',
    example: '[./scout.ai]',
  },
  childControl: {
    type: boolean,
    summary: 'whether it can also spawn the agents of `agents`: start them and continue while they work',
    default: 'false',
    example: 'true',
  },
  clientTools: {
    type: { kind: 'patterns', of: 'client tool' },
    summary: 'whether clients of a server may bring tools that they run: `allow`, `deny`, or names and prefixes with `*`',
    default: '`allow` without `tools` and `agents`, else `deny`',
    example: 'allow',
  },
  keepSessions: {
    type: boolean,
    summary: 'keep its sessions also for requests with `store: false`, which then delete only the response',
    default: 'false',
    example: 'true',
  },
  skills: {
    type: { kind: 'patterns', of: 'skill' },
    summary: 'the skills that it can load: names, prefixes with `*`, or `*` for all',
    default: 'none',
    example: '[pdf, "git-*"]',
  },
  disabledSkills: {
    type: { kind: 'patterns', of: 'skill' },
    summary: 'skills that it cannot load, even if `skills` lists them',
    default: 'none',
    example: '[git-push]',
  },
  'approvals.rules': {
    type: { kind: 'rules' },
    summary: 'calls to allow, ask about or deny; the last matching rule applies; an agent file can only add restrictions',
    default: session,
    example: '[{ deny: "shell(rm *)", reason: Nothing is deleted here }, { ask: web_fetch }]',
  },
  'sandbox.mode': {
    type: { kind: 'choice', of: ['required', 'off'] },
    summary: '`required`: run commands in a sandbox or fail; an agent file can require the sandbox but not turn it off',
    default: session,
    example: 'required',
  },
  'sandbox.hosts': {
    type: { kind: 'names', of: 'host' },
    summary: 'hosts that commands can reach over HTTP and HTTPS, if the session allows them too',
    default: session,
    example: '[packages.example.com, "*.example.com"]',
  },
  'sandbox.privateHosts': {
    type: { kind: 'names', of: 'host' },
    summary: 'hosts of `sandbox.hosts` that may resolve to private addresses, if the session allows them too',
    default: session,
    example: '[registry.example.com]',
  },
  'sandbox.writable': {
    type: { kind: 'names', of: 'folder' },
    summary: 'folders outside the workspace that commands can write to, relative to this file, if the session allows them too',
    default: session,
    example: '[../shared]',
  },
  'sandbox.environment': {
    type: { kind: 'names', of: 'variable' },
    summary: 'environment variables passed to commands, if the session allows them too',
    default: session,
    example: '[LANG, CI]',
  },
  'sandbox.memory': {
    type: { kind: 'size', min: minMemory },
    summary: 'maximum memory of all processes of a command; at most that of the session',
    default: `${session}, else ${showSize(defaultSandboxPolicy.memory)}`,
    example: '512MB',
  },
  'sandbox.processes': {
    type: { kind: 'integer', min: 1 },
    summary: 'maximum processes and threads of a command; at most that of the session',
    default: `${session}, else ${defaultSandboxPolicy.processes}`,
    example: '64',
  },
  ...limitOptions,
  enabled: {
    type: boolean,
    summary: 'whether the agent can be used; a disabled agent is left out of every team',
    default: 'true',
    example: 'false',
  },
  metadata: {
    type: { kind: 'map' },
    summary: 'other facts about the agent, shown by `troupe agents list`',
    default: 'none',
    example: '{ owner: travel }',
  },
}

export const agentOptionKeys = Object.keys(agentOptions) as readonly AgentOptionKey[]

/** `description`, `models`, `parameters`, `output`, `limits`, … */
export const topLevelKeys: readonly string[] = [...new Set(agentOptionKeys.map((key) => key.split('.', 1)[0] ?? key))]

export function agentOption(key: string): { readonly key: AgentOptionKey; readonly option: AgentOption } | undefined {
  return byKey.get(key)
}

/** `limits` → `maxToolTurns`, `maxTokens`, …; empty for a key that is not a group. */
export function keysInGroup(group: string): readonly string[] {
  return keysByGroup.get(group) ?? []
}

// Maps, because a thousand files look up each of their settings.
const byKey = new Map<string, { readonly key: AgentOptionKey; readonly option: AgentOption }>(
  agentOptionKeys.map((key) => [key, { key, option: agentOptions[key] }]),
)
const keysByGroup: ReadonlyMap<string, readonly string[]> = new Map(
  topLevelKeys.map((group) => [
    group,
    agentOptionKeys.flatMap((key) => (key.startsWith(`${group}.`) ? [key.slice(group.length + 1)] : [])),
  ]),
)
