// The one list of what an agent file may say. Reading, overriding, help and the reference are made from it.
import {
  type AgentLimits,
  childLimits,
  defaultLimits,
  defaultSandboxPolicy,
  type ModelParameters,
  reasoningEfforts,
  type SandboxPolicy,
} from '../../contracts/index.ts'
import { showDuration, showSize } from '../../util/parse-units.ts'
import type { ListEntry } from '../values/read-list.ts'

/** What a value must be. */
export type AgentOptionType =
  | { readonly kind: 'text' }
  /** One name, or a list of them; models in the order in which they are tried. */
  | { readonly kind: 'names'; readonly of: Extract<ListEntry, 'model' | 'host' | 'folder' | 'variable'> }
  | { readonly kind: 'number'; readonly least: number; readonly most: number }
  | { readonly kind: 'whole'; readonly least?: number }
  | { readonly kind: 'duration' }
  | { readonly kind: 'size'; readonly least: number }
  | { readonly kind: 'choice'; readonly of: readonly string[] }
  | { readonly kind: 'switch' }
  /** How many at once: a number, `false` for one, `true` for the default. */
  | { readonly kind: 'parallel' }
  | { readonly kind: 'schema' }
  | { readonly kind: 'file' }
  /** A name that parents and people know an agent by. */
  | { readonly kind: 'identifier' }
  /** Names, and patterns that end in `*`. */
  | { readonly kind: 'patterns'; readonly of: Extract<ListEntry, 'tool' | 'skill'> }
  /** Files or names of agents. */
  | { readonly kind: 'references' }
  /** What is allowed, asked about and denied: `ApprovalRule[]`. */
  | { readonly kind: 'rules' }
  /** Whatever JSON there is, by key. */
  | { readonly kind: 'map' }

export interface AgentOption {
  readonly type: AgentOptionType
  readonly summary: string
  /** What holds where nothing is said, as it would be written. */
  readonly default: string
  /** A value as it would be written. */
  readonly example: string
  /** Another spelling of that option: what is said here counts there. */
  readonly sameAs?: AgentOptionKey
  /** A flag of `troupe run` that says the same for one run. */
  readonly flag?: { readonly name: string; readonly value: string }
}

export type AgentOptionKey =
  | 'description'
  | 'usage'
  | 'toolName'
  | 'models'
  | `parameters.${keyof ModelParameters | 'timeout'}`
  | 'input.format'
  | 'input.schema'
  | 'input.schemaRef'
  | 'output.format'
  | 'output.schema'
  | 'output.schemaRef'
  | 'tools'
  | 'agents'
  | 'skills'
  | 'disabledSkills'
  | 'approvals.rules'
  | `sandbox.${keyof SandboxPolicy}`
  | `limits.${keyof AgentLimits}`
  | 'enabled'
  | 'metadata'

const inputFormats = ['text', 'json'] as const
const outputFormats = ['markdown', 'text', 'json'] as const
/** Below this, head, tail and the way to the rest do not fit. */
const minOutputBytes = 512
/** Below this hardly any program starts. */
const minMemory = 16 * 1024 ** 2
const providers = "the provider's"
const sessions = "the session's"

export const agentOptions = {
  description: {
    type: { kind: 'text' },
    summary: 'what the agent does, in a line',
    default: 'required',
    example: 'Plans a trip by rail',
  },
  usage: {
    type: { kind: 'text' },
    summary: 'an example of what it is asked; required for an agent that others call',
    default: 'none',
    example: 'a city and a date',
  },
  toolName: {
    type: { kind: 'identifier' },
    summary: 'the name that other agents call it by; no two agents share one',
    default: "the file's name",
    example: 'research.trips',
  },
  models: {
    type: { kind: 'names', of: 'model' },
    summary: 'the model, or several in the order in which they are tried',
    default: 'auto',
    example: '[anthropic/claude-sonnet-5, openai/gpt-5.4-mini]',
  },
  'parameters.temperature': {
    type: { kind: 'number', least: 0, most: 2 },
    summary: 'how freely the model chooses its words',
    default: providers,
    example: '0.2',
  },
  'parameters.topP': {
    type: { kind: 'number', least: 0, most: 1 },
    summary: 'the share of likely words that the model chooses from',
    default: providers,
    example: '0.9',
  },
  'parameters.maxOutputTokens': {
    type: { kind: 'whole', least: 1 },
    summary: 'the longest reply of the model, in tokens',
    default: providers,
    example: '4000',
  },
  'parameters.reasoning': {
    type: { kind: 'choice', of: reasoningEfforts },
    summary: 'how long the model thinks before it answers, where it can',
    default: providers,
    example: 'low',
  },
  'parameters.seed': {
    type: { kind: 'whole' },
    summary: 'asks the provider for the same answer to the same question',
    default: providers,
    example: '7',
  },
  'parameters.cache': {
    type: { kind: 'switch' },
    summary: 'asks the provider to keep the beginning of a request in its cache',
    default: 'true',
    example: 'false',
  },
  'parameters.timeout': {
    type: { kind: 'duration' },
    summary: 'wait for the first output of a model: the same as limits.llmTimeout',
    default: 'limits.llmTimeout',
    example: '90s',
    sameAs: 'limits.llmTimeout',
  },
  'input.format': {
    type: { kind: 'choice', of: inputFormats },
    summary: 'what other agents give it: a text, or JSON that is checked first',
    default: 'text, or json where there is a schema',
    example: 'json',
  },
  'input.schema': {
    type: { kind: 'schema' },
    summary: 'the JSON Schema (2020-12) that the input must fit; an object',
    default: 'none',
    example: '{ type: object, properties: { city: { type: string } }, required: [city] }',
  },
  'input.schemaRef': {
    type: { kind: 'file' },
    summary: 'the same in a JSON or YAML file, relative to the agent file',
    default: 'none',
    example: './question.schema.json',
  },
  'output.format': {
    type: { kind: 'choice', of: outputFormats },
    summary:
      'what the answer is; with `text` the model is asked for plain text without Markdown; JSON is checked, and sent back with what is wrong with it; to be stated by an agent that others call',
    default: 'markdown, or json where there is a schema',
    example: 'json',
  },
  'output.schema': {
    type: { kind: 'schema' },
    summary: 'the JSON Schema (2020-12) that the answer must fit',
    default: 'none',
    example: '{ type: object, properties: { city: { type: string } }, required: [city] }',
  },
  'output.schemaRef': {
    type: { kind: 'file' },
    summary: 'the same in a JSON or YAML file, relative to the agent file',
    default: 'none',
    example: './answer.schema.json',
  },
  tools: {
    type: { kind: 'patterns', of: 'tool' },
    summary: 'the tools that it may use: their names, the beginning of some with a * behind it, or * for all',
    default: 'none',
    example: '[web_fetch, "read_*"]',
  },
  agents: {
    type: { kind: 'references' },
    summary: 'agents that it may call like tools: files relative to the agent file, or names of configured agents',
    default: 'none',
    example: '[./scout.ai]',
  },
  skills: {
    type: { kind: 'patterns', of: 'skill' },
    summary: 'the skills that it may load: their names, the beginning of some with a * behind it, or * for all',
    default: 'none',
    example: '[pdf, "git-*"]',
  },
  disabledSkills: {
    type: { kind: 'patterns', of: 'skill' },
    summary: 'skills that it may not load, whatever `skills` says',
    default: 'none',
    example: '[git-push]',
  },
  'approvals.rules': {
    type: { kind: 'rules' },
    summary:
      'what is asked about or not done at all; of the rules that fit, the last counts; an agent file can only be stricter than the session',
    default: sessions,
    example: '[{ deny: "shell(rm *)", reason: Nothing is deleted here }, { ask: web_fetch }]',
  },
  'sandbox.mode': {
    type: { kind: 'choice', of: ['required', 'off'] },
    summary: 'whether commands run behind walls or not at all; an agent file can require walls and not take them away',
    default: sessions,
    example: 'required',
  },
  'sandbox.hosts': {
    type: { kind: 'names', of: 'host' },
    summary: 'hosts that commands may reach over HTTP and HTTPS; those that the session names too',
    default: sessions,
    example: '[packages.example.com, "*.example.com"]',
  },
  'sandbox.privateHosts': {
    type: { kind: 'names', of: 'host' },
    summary: 'hosts among `sandbox.hosts` that may resolve to a private address; those that the session names too',
    default: sessions,
    example: '[registry.internal]',
  },
  'sandbox.writable': {
    type: { kind: 'names', of: 'folder' },
    summary:
      'folders besides the workspace that commands may write to, relative to the file that says so; those that the session names too',
    default: sessions,
    example: '[../shared]',
  },
  'sandbox.environment': {
    type: { kind: 'names', of: 'variable' },
    summary: 'variables that commands are given, by name; those that the session names too',
    default: sessions,
    example: '[LANG, CI]',
  },
  'sandbox.memory': {
    type: { kind: 'size', least: minMemory },
    summary: 'memory that all processes of a command may use together; at most that of the session',
    default: `${sessions}, ${showSize(defaultSandboxPolicy.memory)} where nothing else is said`,
    example: '512MB',
  },
  'sandbox.processes': {
    type: { kind: 'whole', least: 1 },
    summary: 'processes and threads of a command; at most that of the session',
    default: `${sessions}, ${defaultSandboxPolicy.processes} where nothing else is said`,
    example: '64',
  },
  'limits.maxToolTurns': {
    type: { kind: 'whole', least: 1 },
    summary: 'steps (model calls) in one turn; one more is held in reserve for a last answer',
    default: String(defaultLimits.maxToolTurns),
    example: '6',
    flag: { name: 'max-steps', value: 'COUNT' },
  },
  'limits.maxTokens': {
    type: { kind: 'whole', least: 1 },
    summary: 'tokens of one turn, in and out',
    default: `none; ${childLimits.maxTokens} where another agent calls it`,
    example: '200000',
    flag: { name: 'max-tokens', value: 'COUNT' },
  },
  'limits.maxSessionTokens': {
    type: { kind: 'whole', least: 1 },
    summary: 'tokens over the whole session',
    default: 'none',
    example: '1000000',
  },
  'limits.maxCalls': {
    type: { kind: 'whole', least: 0 },
    summary: 'calls in one turn; those that could not be started count too',
    default: 'none',
    example: '20',
  },
  'limits.timeBudget': {
    type: { kind: 'duration' },
    summary: 'working time of one turn; waiting for a person does not count',
    default: `none; ${showDuration(childLimits.timeBudget)} where another agent calls it`,
    example: '10m',
    flag: { name: 'time-budget', value: 'DURATION' },
  },
  'limits.llmTimeout': {
    type: { kind: 'duration' },
    summary: 'wait for the first output of a model',
    default: showDuration(defaultLimits.llmTimeout),
    example: '90s',
  },
  'limits.idleTimeout': {
    type: { kind: 'duration' },
    summary: 'the longest silence of a model that has begun to answer',
    default: showDuration(defaultLimits.idleTimeout),
    example: '30s',
  },
  'limits.replyTimeout': {
    type: { kind: 'duration' },
    summary: 'one whole reply of a model, from the request to its end',
    default: showDuration(defaultLimits.replyTimeout),
    example: '30m',
  },
  'limits.toolTimeout': {
    type: { kind: 'duration' },
    summary: 'one call of a tool; where it is not set, `shell` and `web_fetch` have longer limits of their own',
    default: showDuration(defaultLimits.toolTimeout),
    example: '2m',
  },
  'limits.maxRetries': {
    type: { kind: 'whole', least: 0 },
    summary: 'further attempts at a model after the first, in one step',
    default: String(defaultLimits.maxRetries),
    example: '2',
  },
  'limits.parallelToolCalls': {
    type: { kind: 'parallel' },
    summary: 'calls of a step that may run at once; `shell` and `apply_patch` always run alone, whatever it is set to',
    default: String(defaultLimits.parallelToolCalls),
    example: 'false',
  },
  'limits.maxOutputBytes': {
    type: { kind: 'size', least: minOutputBytes },
    summary: 'output of a call that is shown to the model; more is kept aside, to be looked into',
    default: showSize(defaultLimits.maxOutputBytes),
    example: '64KB',
  },
  'limits.maxCostUsd': {
    type: { kind: 'number', least: 0, most: 1_000_000 },
    summary: 'money of one turn in US dollars, children included; every model must have a price then',
    default: 'none',
    example: '0.50',
    flag: { name: 'max-cost', value: 'USD' },
  },
  'limits.maxDepth': {
    type: { kind: 'whole', least: 0 },
    summary: 'levels of children that there may be below this agent',
    default: String(defaultLimits.maxDepth),
    example: '1',
  },
  'limits.maxChildren': {
    type: { kind: 'whole', least: 0 },
    summary: 'children that may be started in one turn, theirs included',
    default: String(defaultLimits.maxChildren),
    example: '8',
  },
  'limits.parallelChildren': {
    type: { kind: 'whole', least: 1 },
    summary: 'children at work at once; further ones wait in line',
    default: String(defaultLimits.parallelChildren),
    example: '2',
  },
  enabled: {
    type: { kind: 'switch' },
    summary: 'whether it can be used; where not, it is left out of every team',
    default: 'true',
    example: 'false',
  },
  metadata: {
    type: { kind: 'map' },
    summary: 'what else is to be known about it; shown by troupe agents list',
    default: 'none',
    example: '{ owner: travel }',
  },
} as const satisfies { readonly [Key in AgentOptionKey]: AgentOption }

export const agentOptionKeys = Object.keys(agentOptions) as readonly AgentOptionKey[]

/** Keys that a later version will have. Until then they are refused: nothing that is said is ignored. */
export const reservedKeys: readonly string[] = ['mcpServers']

/** `description`, `models`, `parameters`, `output`, `limits`, … */
export const topLevelKeys: readonly string[] = [...new Set(agentOptionKeys.map((key) => key.split('.', 1)[0] ?? key))]

export function agentOption(key: string): { readonly key: AgentOptionKey; readonly option: AgentOption } | undefined {
  return byKey.get(key)
}

/** The keys below `parameters`, `output` or `limits`, without it; none where the key stands alone. */
export function keysInGroup(group: string): readonly string[] {
  return keysByGroup.get(group) ?? []
}

// A thousand files ask these for each of their settings.
const byKey = new Map<string, { readonly key: AgentOptionKey; readonly option: AgentOption }>(
  agentOptionKeys.map((key) => [key, { key, option: agentOptions[key] }]),
)
const keysByGroup: ReadonlyMap<string, readonly string[]> = new Map(
  topLevelKeys.map((group) => [
    group,
    agentOptionKeys.flatMap((key) => (key.startsWith(`${group}.`) ? [key.slice(group.length + 1)] : [])),
  ]),
)
