// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { providerKinds, reservedModelNames } from '../../contracts/index.ts'
import { parseHttpAddress } from '../../util/read-address.ts'
import { type AgentOption, type AgentOptionKey, agentOptionKeys, agentOptions, keysInGroup } from '../agent-file/agent-options.ts'
import { listNames } from '../values/messages.ts'
import { hooksShape } from './hook-shape.ts'
import type { Shape } from './shape.ts'

/** One section of a configuration. */
export interface Section {
  readonly shape: Shape
  /** Whether a project's words count only once a person has trusted them; `to-loosen`: what makes things stricter counts without. */
  readonly trust: 'needed' | 'to-loosen' | 'free'
  /** Nobody reads it yet; who has it in a file is told. */
  readonly use: 'now' | 'later'
  /** `by-layer`: never merged by key; whoever reads it holds the layers against each other. */
  readonly merge: 'by-key' | 'by-layer'
}

const text = (example: string, fault?: (text: string) => string | undefined): Shape => ({ kind: 'text', example, ...(fault && { fault }) })
const literal = (example: string, fault?: (text: string) => string | undefined): Shape => ({
  kind: 'text',
  example,
  isLiteral: true,
  ...(fault && { fault }),
})
const option = (key: AgentOptionKey): Shape => ({ kind: 'option', option: agentOptions[key] })
const anyMap: Shape = { kind: 'names', of: { kind: 'any' }, example: '{ "name": { … } }' }

const provider: Shape = {
  kind: 'fields',
  of: {
    kind: { kind: 'choice', of: providerKinds },
    baseURL: text('https://models.example.org/v1', addressProblem),
    apiKey: text('${LAB_API_KEY}'),
    headers: { kind: 'names', of: text('${LAB_TOKEN}'), example: '{ "X-Team": "research" }', name: /^[\w!#$%&'*+.^`|~-]+$/ },
    api: { kind: 'choice', of: ['chat', 'responses'] },
  },
}

function addressProblem(written: string): string | undefined {
  const read = parseHttpAddress(written)
  if (!read) return 'must be an http: or https: address'
  const { url, isAsWritten } = read
  const isBare = [url.username, url.password, url.search, url.hash].every((part) => part === '')
  if (!isBare) return 'must have no user, query or fragment: what lets us in is given as `apiKey` or in `headers`'
  return isAsWritten ? undefined : `must be written as it is read, without blanks: requests would go to ${url.origin}`
}

const price: Shape = {
  kind: 'fields',
  // US dollars for a million tokens.
  of: {
    input: { kind: 'amount', example: '1.25' },
    output: { kind: 'amount', example: '10' },
    cacheRead: { kind: 'amount', example: '0.125' },
    cacheWrite: { kind: 'amount', example: '1.5' },
  },
  required: ['input', 'output'],
}

const queue: Shape = {
  kind: 'fields',
  of: { concurrent: { kind: 'whole', least: 1, example: '8' }, perMinute: { kind: 'whole', least: 1, example: '300' } },
}

const sandbox: Shape = {
  kind: 'fields',
  of: Object.fromEntries(keysInGroup('sandbox').map((key) => [key, option(`sandbox.${key}` as AgentOptionKey)])),
}

const approvals: Shape = {
  kind: 'fields',
  of: { rules: option('approvals.rules'), onUnavailable: { kind: 'choice', of: ['suspend', 'deny'] } },
}

const skillName = (written: string): string | undefined =>
  /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(written.trim())
    ? undefined
    : 'must be the name of a skill: small letters and digits, with single hyphens between them'

const skills: Shape = {
  kind: 'fields',
  of: {
    directories: { kind: 'list', of: literal('../skills'), example: '["../skills"]' },
    disabled: { kind: 'list', of: literal('git-push', skillName), example: '["git-push"]' },
  },
}

const modelName = (written: string): string | undefined => (/\s/.test(written.trim()) ? 'must be a name without spaces' : undefined)

/** Whoever says a full name, `auto` or `rehearsal` must get just that, whatever a project says. */
const aliasName = new RegExp(`^(?!(?:${reservedModelNames.join('|')})$)[^\\s/]+$`)

/** The options that hold for every agent of a project alike. What makes an agent itself has no default. */
export const defaultKeys: readonly string[] = agentOptionKeys.filter(
  (key) => key === 'models' || key === 'output.format' || (/^(?:parameters|limits)\./.test(key) && !isAliasKey(key)),
)

function isAliasKey(key: AgentOptionKey): boolean {
  const { sameAs }: AgentOption = agentOptions[key]
  return sameAs !== undefined
}

function defaultsShape(): Shape {
  const groups: Record<string, Record<string, Shape>> = {}
  const alone: Record<string, Shape> = {}
  for (const key of defaultKeys) {
    const option: AgentOption = agentOptions[key as keyof typeof agentOptions]
    const [group = '', below] = key.split('.')
    if (below === undefined) alone[group] = { kind: 'option', option }
    else groups[group] = { ...groups[group], [below]: { kind: 'option', option } }
  }
  const grouped = Object.entries(groups).map(([group, of]): [string, Shape] => [group, { kind: 'fields', of }])
  return { kind: 'fields', of: { ...alone, ...Object.fromEntries(grouped) } }
}

const free = { trust: 'free', use: 'now', merge: 'by-key' } as const
const guarded = { trust: 'needed', use: 'now', merge: 'by-key' } as const
const byLayer = { use: 'now', merge: 'by-layer' } as const
const later = { shape: anyMap, trust: 'needed', use: 'later', merge: 'by-key' } as const

/**
 * Everything that a `.ai-agent.json` may have. Guarded is what could run code, send something elsewhere, read a variable,
 * loosen a rule, or write where it should not: prices too, since a price of nothing empties a budget of its meaning, as
 * a model does that may have none.
 */
export const sections = {
  agents: { shape: { kind: 'list', of: text('./agents/*.ai'), example: '["./agents", "./more/*.ai"]' }, ...free },
  providers: {
    shape: {
      kind: 'names',
      of: provider,
      example: '{ "lab": { "baseURL": "https://…/v1" } }',
      name: aliasName,
      naming: `a provider is called by one word without \`/\`, and by none of ${listNames(reservedModelNames)}, which name models by themselves`,
    },
    ...guarded,
  },
  models: {
    shape: {
      kind: 'names',
      of: text('openai/gpt-5.4-mini', modelName),
      example: '{ "fast": "openai/gpt-5.4-mini" }',
      name: aliasName,
      naming: `an alias is one word without \`/\`, and none of ${listNames(reservedModelNames)}, which name models by themselves`,
    },
    ...free,
  },
  mcpServers: later,
  defaults: { shape: defaultsShape(), ...free },
  queues: { shape: { kind: 'names', of: queue, example: '{ "openai": { "concurrent": 8 } }', name: /\S/ }, ...free },
  pricing: {
    shape: { kind: 'names', of: price, example: '{ "lab/large": { "input": 1, "output": 4 } }', name: /^[^\s/]+\/\S+$/ },
    ...guarded,
  },
  unpriced: { shape: { kind: 'list', of: literal('lab/large', modelName), example: '["lab/large"]' }, ...guarded },
  childrenOffered: { shape: { kind: 'choice', of: ['each', 'directory'] }, ...free },
  // No tool that the command line offers asks for one.
  features: { shape: { kind: 'names', of: { kind: 'flag' }, example: '{ "name": true }', name: /^\S+$/ }, ...free, use: 'later' },
  approvals: { shape: approvals, trust: 'to-loosen', ...byLayer },
  sandbox: { shape: sandbox, trust: 'to-loosen', ...byLayer },
  hooks: { shape: hooksShape, trust: 'needed', ...byLayer },
  skills: { shape: skills, trust: 'to-loosen', ...byLayer },
  context: { shape: { kind: 'fields', of: { agentsMd: { kind: 'flag' } } }, trust: 'free', ...byLayer },
  headends: later,
  slack: later,
  store: { shape: { kind: 'fields', of: { path: text('./state') } }, ...guarded },
  telemetry: later,
} as const satisfies { readonly [name: string]: Section }

export type SectionName = keyof typeof sections
export const sectionNames = Object.keys(sections) as readonly SectionName[]
export const sectionOf = (name: SectionName): Section => sections[name]

/** A whole `.ai-agent.json`. `$schema` is for editors. */
export const configShape: Shape = {
  kind: 'fields',
  of: { $schema: text('./ai-agent.schema.json'), ...Object.fromEntries(sectionNames.map((name) => [name, sections[name].shape])) },
}

/** A section in words. */
export interface SectionWords {
  readonly summary: string
  /** What trust lets a project do with it; nothing where everything in it counts without. */
  readonly power?: string
}

const standIn = 'read variables, or let a script stand in for a model'
const overModels = `say which models are asked where you have said it yourself, ${standIn}`

export const sectionWords: { readonly [Name in SectionName]: SectionWords } = {
  agents: {
    summary: 'files, folders and patterns of agents that others may name, relative to this file',
    power: 'use agents from outside of its folder, or found through variables',
  },
  providers: { summary: 'where models are, and how to be let in', power: 'say where requests and keys are sent' },
  models: { summary: 'other names for models', power: overModels },
  mcpServers: { summary: 'servers that offer tools', power: 'start programs, and reach servers' },
  defaults: {
    summary: 'settings for agents that do not say them themselves',
    power: `${overModels}; go beyond your own limits`,
  },
  queues: {
    summary: 'how much of something may happen at once, and in a minute, over all runs of a process',
    power: 'go beyond your own limits',
  },
  pricing: {
    summary: 'prices of models, in US dollars for a million tokens',
    power: 'say what models cost, and so what a limit of costs means',
  },
  unpriced: {
    summary: 'models without a price that may be asked under a limit of costs all the same, as agents name them',
    power: 'ask models that a limit of costs does not reach',
  },
  childrenOffered: {
    summary: 'whether an agent has each agent that it may call as a tool, or a directory of them; left out: a directory beyond ten',
  },
  features: { summary: 'switches that tools may ask for' },
  approvals: {
    summary: 'what agents may do without asking, and what not at all; the strictest layer counts',
    power: 'say what agents may do without asking',
  },
  sandbox: {
    summary: 'what programs that agents start may reach; the strictest layer counts',
    power: 'say what programs may reach, or that they run without walls',
  },
  hooks: { summary: "programs that look at what happens, or change it; every layer's are asked", power: 'run programs' },
  skills: {
    summary: 'where else skills are looked for, and which are switched off; what any layer says counts',
    power: 'offer skills from further folders',
  },
  context: { summary: 'what every session is told at its beginning; what one layer switches off stays off' },
  headends: { summary: 'ways in for others', power: 'let others in' },
  slack: { summary: 'a channel in Slack', power: 'let others in' },
  store: { summary: 'where journals are kept', power: 'say where journals are written' },
  telemetry: { summary: 'where traces are sent', power: 'send elsewhere what happens' },
}

/** What trust lets a part do that a configuration withholds, as `PendingFile.withheld` names it. */
export function trustEffect(withheld: string): string | undefined {
  if (withheld.startsWith('variables ')) return 'set keys, addresses and whatever else its variables are used for'
  const section = sectionIn(withheld)
  return section && sectionWords[section].power
}

const sectionIn = (withheld: string): SectionName | undefined =>
  sectionNames.find((name) => withheld.startsWith(name) && /^(?:$|[.[,])/.test(withheld.slice(name.length)))

/** They can be many, and neither run anything nor send anything to somebody new. */
const small: ReadonlySet<SectionName | undefined> = new Set(['models', 'defaults', 'queues', 'pricing', 'unpriced', 'features'])

/** Whether such a part runs something, opens something or says where things are sent: nobody can decide without seeing all of it. */
export const mustShowInFull = (withheld: string): boolean => !small.has(sectionIn(withheld))
