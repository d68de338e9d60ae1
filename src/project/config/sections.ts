// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { extensionId, providerKinds, reservedModelNames } from '../../contracts/index.ts'
import { hooksShape } from '../../policy/hook-shape.ts'
import { openApiShape, restToolsShape } from '../../policy/http-tool-shapes.ts'
import { namedServers, serverShape } from '../../policy/mcp-server-shape.ts'
import { queuesShape } from '../../policy/queue-shape.ts'
import { boolean, choice, literal, type TextShape, text } from '../../policy/shape.ts'
import { parseHttpAddress } from '../../util/read-address.ts'
import { listNames } from '../../yaml/messages.ts'
import { type AgentOptionKey, agentOptionKeys, agentOptions, keysInGroup } from '../options/agent-options.ts'
import type { ValueSpec } from '../values/read-value.ts'
import type { Shape } from './shape.ts'
import { webhooksShape } from './webhooks-shape.ts'

/** One section of a configuration. */
interface Section {
  readonly shape: Shape
  readonly summary: string
  /** What a project can do with it if a person trusts the file. Absent if all of it takes effect without trust. */
  readonly trustEffect?: string
  /** Whether a project's section takes effect only after a person trusts it; `to-loosen`: restrictions take effect without trust. */
  readonly trust: 'needed' | 'to-loosen' | 'free'
  /** `by-layer`: layers are not merged by key; the reader of the section combines them. */
  readonly merge: 'by-key' | 'by-layer'
  /** Whether it neither runs anything nor sends anything to a new place, so that a person can decide without seeing all of it. */
  readonly isMinor?: true
}

type Check = NonNullable<TextShape['check']>
const amount = (example: string): Shape => ({ kind: 'value', type: { kind: 'number', min: 0 }, example })
const option = (key: AgentOptionKey): Shape => ({ kind: 'value', ...agentOptions[key] })

const provider: Shape = {
  kind: 'fields',
  of: {
    kind: choice(providerKinds),
    baseURL: text('https://models.example.org/v1', checkAddress),
    apiKey: text('${LAB_API_KEY}'),
    headers: { kind: 'names', of: text('${LAB_TOKEN}'), example: '{ "X-Team": "research" }', name: /^[\w!#$%&'*+.^`|~-]+$/ },
    api: choice(['chat', 'responses']),
  },
}

function checkAddress(written: string): string | undefined {
  const read = parseHttpAddress(written)
  if (!read) return 'must be an http: or https: address'
  const { url, isAsWritten } = read
  const isBare = [url.username, url.password, url.search, url.hash].every((part) => part === '')
  if (!isBare) return 'cannot have a user, query or fragment: set credentials in `apiKey` or `headers`'
  return isAsWritten ? undefined : `cannot have spaces or characters that change the address: requests would go to ${url.origin}`
}

// US dollars for a million tokens.
const price: Shape = {
  kind: 'fields',
  of: { input: amount('1.25'), output: amount('10'), cacheRead: amount('0.125'), cacheWrite: amount('1.5') },
  required: ['input', 'output'],
}

const sandboxShape = (keys: readonly string[]): Shape => ({
  kind: 'fields',
  of: Object.fromEntries(keys.map((key) => [key, option(`sandbox.${key}` as AgentOptionKey)])),
})

/** `mcpServers` of a configuration and of an agent file. */
export const serversShape: Shape = namedServers<ValueSpec>({
  ...serverShape,
  of: {
    ...serverShape.of,
    sandbox: { kind: 'or', word: 'off', of: sandboxShape(keysInGroup('sandbox').filter((key) => key !== 'mode')) },
  },
})

const approvals: Shape = { kind: 'fields', of: { rules: option('approvals.rules'), onUnavailable: choice(['suspend', 'deny']) } }

const checkSkillName: Check = (written) =>
  /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(written.trim())
    ? undefined
    : 'must be the name of a skill: lower-case letters, digits and single hyphens'

const skills: Shape = {
  kind: 'fields',
  of: {
    directories: { kind: 'list', of: literal('../skills'), example: '["../skills"]' },
    disabled: { kind: 'list', of: literal('git-push', checkSkillName), example: '["git-push"]' },
  },
}

const checkModelName: Check = (written) => (/\s/.test(written.trim()) ? 'must be a name without spaces' : undefined)

/** A project cannot change what a full name, `auto` or `rehearsal` means. */
const aliasName = new RegExp(`^(?!(?:${reservedModelNames.join('|')})$)[^\\s/]+$`)
const naming = `Use one word without \`/\`, and none of ${listNames(reservedModelNames)}`

/** The options that can have a default for all agents. */
export const defaultKeys: readonly string[] = agentOptionKeys.filter(
  (key) => key === 'models' || key === 'output.format' || (/^(?:parameters|limits)\./.test(key) && agentOptions[key].sameAs === undefined),
)

function defaultsShape(): Shape {
  const fields: Record<string, Shape> = {}
  for (const key of defaultKeys) {
    const [group = '', inner] = key.split('.')
    const shape = option(key as AgentOptionKey)
    const siblings = fields[group]
    if (inner === undefined) fields[group] = shape
    else fields[group] = { kind: 'fields', of: { ...(siblings?.kind === 'fields' && siblings.of), [inner]: shape } }
  }
  return { kind: 'fields', of: fields }
}

/** `agents.example.com` or `agents.example.com:8443`, as the Host header has it. */
const checkHostName: Check = (written) =>
  /^(?:[a-z0-9-]+(?:\.[a-z0-9-]+)*|\[[0-9a-f:]+\])(?::\d+)?$/i.test(written) ? undefined : 'must be a host name without `https://` and path'

const checkOrigin: Check = (written) =>
  /^https?:\/\//.test(written) && URL.canParse(written) && new URL(written).origin === written.toLowerCase()
    ? undefined
    : 'must be an origin: `https://`, a host name and nothing after it'

/** Paths of the server are added to it. */
const checkPublicUrl: Check = (written) => {
  const read = parseHttpAddress(written)
  return read && [read.url.username, read.url.password, read.url.search, read.url.hash].every((part) => part === '')
    ? undefined
    : 'must be an http: or https: address without user and query'
}

const count = (min: number, example: string): Shape => ({ kind: 'value', type: { kind: 'integer', min }, example })
const duration = (example: string): Shape => ({ kind: 'value', type: { kind: 'duration' }, example })

const headends: Shape = {
  kind: 'fields',
  of: {
    host: literal('127.0.0.1'),
    port: { kind: 'value', type: { kind: 'integer', min: 0, max: 65_535 }, example: '3900' },
    publicUrl: literal('https://agents.example.com', checkPublicUrl),
    hosts: { kind: 'list', of: literal('agents.example.com', checkHostName), example: '["agents.example.com"]' },
    origins: { kind: 'list', of: literal('https://chat.example.com', checkOrigin), example: '["https://chat.example.com"]' },
    maxBodyBytes: { kind: 'value', type: { kind: 'size', min: 1024 }, example: '20MB' },
    concurrency: {
      kind: 'fields',
      of: {
        total: count(1, '256'),
        perHeadend: count(1, '256'),
        perAgent: count(1, '128'),
        perToken: count(1, '128'),
        queue: count(0, '512'),
        queueMs: duration('30s'),
      },
    },
    streams: { kind: 'fields', of: { total: count(1, '2000'), perToken: count(1, '500') } },
    drain: duration('30s'),
    legacyTransports: boolean,
  },
}

const telemetry: Shape = {
  kind: 'fields',
  of: {
    endpoint: text('http://localhost:4318/v1/traces', checkAddress),
    headers: { kind: 'names', of: text('Bearer ${OTEL_TOKEN}'), example: '{ "authorization": "Bearer ${OTEL_TOKEN}" }', name: /^[\w-]+$/ },
    content: boolean,
  },
  // Credentials of one layer are not sent to the address of another.
  isWhole: true,
}

const free = { trust: 'free', merge: 'by-key' } as const
const guarded = { trust: 'needed', merge: 'by-key' } as const
const byLayer = { merge: 'by-layer' } as const
const readsVariables = 'read variables, or replace a model by a script'
const choosesModels = `choose models instead of those in your own configuration, ${readsVariables}`

/**
 * All sections of a `.ai-agent.json`. Trust is needed for everything that could run code, send data to another place, read
 * a variable, loosen a rule, or write outside the project. That includes prices: a price of zero disables a cost limit.
 */
export const sections = {
  agents: {
    shape: { kind: 'list', of: text('./agents/*.ai'), example: '["./agents", "./more/*.ai"]' },
    summary: 'files, folders and patterns of agents that other agents can name, relative to this file',
    trustEffect: 'use agents outside its folder, or found through variables',
    ...free,
  },
  providers: {
    shape: { kind: 'names', of: provider, example: '{ "lab": { "baseURL": "https://…/v1" } }', name: aliasName, naming },
    summary: 'addresses and credentials of model providers',
    trustEffect: 'choose where requests and keys are sent',
    ...guarded,
  },
  models: {
    shape: {
      kind: 'names',
      of: text('openai/gpt-5.4-mini', checkModelName),
      example: '{ "fast": "openai/gpt-5.4-mini" }',
      name: aliasName,
      naming,
    },
    summary: 'aliases of models',
    trustEffect: choosesModels,
    ...free,
    isMinor: true,
  },
  mcpServers: {
    shape: serversShape,
    summary: 'MCP servers that offer tools; the strongest layer with a name applies',
    trustEffect: 'start programs and connect to servers',
    ...guarded,
  },
  restTools: {
    shape: restToolsShape,
    summary: 'HTTP endpoints that agents can call as tools; the strongest layer with a name defines it',
    trustEffect: 'send requests and credentials to servers',
    trust: 'needed',
    ...byLayer,
  },
  openapi: {
    shape: openApiShape,
    summary: 'OpenAPI documents whose operations are tools; the strongest layer with a name defines it',
    trustEffect: 'send requests and credentials to servers',
    trust: 'needed',
    ...byLayer,
  },
  defaults: {
    shape: defaultsShape(),
    summary: 'values of options that an agent file does not set',
    trustEffect: `${choosesModels}; exceed your own limits`,
    ...free,
    isMinor: true,
  },
  queues: {
    shape: queuesShape,
    summary: 'limits of parallel requests and requests per minute, over all sessions of a process',
    trustEffect: 'exceed your own limits',
    ...free,
    isMinor: true,
  },
  pricing: {
    shape: { kind: 'names', of: price, example: '{ "lab/large": { "input": 1, "output": 4 } }', name: /^[^\s/]+\/\S+$/ },
    summary: 'prices of models, in US dollars for a million tokens',
    trustEffect: 'set prices, and so change what a cost limit means',
    ...guarded,
    isMinor: true,
  },
  unpriced: {
    shape: { kind: 'list', of: literal('lab/large', checkModelName), example: '["lab/large"]' },
    summary: 'models without a price that can be used under a cost limit',
    trustEffect: 'use models that a cost limit does not cover',
    ...guarded,
    isMinor: true,
  },
  childrenOffered: {
    shape: choice(['each', 'directory']),
    summary: 'how an agent sees its children: one tool for each, or a directory; default: a directory if there are more than ten',
    ...free,
  },
  toolsOffered: {
    shape: choice(['each', 'search']),
    summary:
      'how an agent gets tools of servers: all in each request, or by search; default: by search above a tenth of the context window',
    ...free,
  },
  features: {
    shape: { kind: 'names', of: boolean, example: '{ "name": true }', name: /^\S+$/ },
    summary: 'feature flags: tools with `requires` are offered only where their flag is true',
    ...free,
    isMinor: true,
  },
  approvals: {
    shape: approvals,
    summary: 'calls to allow, ask about or deny; the strictest layer applies',
    trustEffect: 'allow calls without asking',
    trust: 'to-loosen',
    ...byLayer,
  },
  sandbox: {
    shape: sandboxShape(keysInGroup('sandbox')),
    summary: 'what commands of agents can reach; the strictest layer applies',
    trustEffect: 'give commands more access, or run them without a sandbox',
    trust: 'to-loosen',
    ...byLayer,
  },
  hooks: {
    shape: hooksShape,
    summary: 'programs that inspect or change calls, requests and answers; those of all layers run',
    trustEffect: 'run programs',
    trust: 'needed',
    ...byLayer,
  },
  skills: {
    shape: skills,
    summary: 'more folders with skills, and skills to disable; all layers apply',
    trustEffect: 'offer skills from other folders',
    trust: 'to-loosen',
    ...byLayer,
  },
  context: {
    shape: { kind: 'fields', of: { agentsMd: boolean } },
    summary: 'project instructions for every session; if one layer disables them, they stay disabled',
    trust: 'free',
    ...byLayer,
  },
  extensions: {
    shape: {
      kind: 'names',
      of: { kind: 'names', of: { kind: 'any' }, example: '{ "city": "Rome" }' },
      example: '{ "weather": { "city": "Rome" } }',
      name: extensionId,
      naming: 'Use the id of an extension: lower-case letters, digits, and single `_` or `-`',
    },
    summary: 'values over `config` of the manifests of extensions',
    trustEffect: 'configure extensions: what they connect to, send and allow',
    ...guarded,
  },
  headends: {
    shape: headends,
    summary: 'the server of `troupe serve`: address, names, limits',
    trustEffect: 'give others access',
    ...guarded,
  },
  store: {
    shape: {
      kind: 'fields',
      of: {
        path: text('./state'),
        url: text('postgres://troupe:${PGPASSWORD}@db.example.com/troupe'),
        listenUrl: text('postgres://troupe:${PGPASSWORD}@db.example.com:5433/troupe'),
        pool: count(2, '10'),
      },
    },
    summary: 'where journals are stored: a folder, or a PostgreSQL database',
    trustEffect: 'choose where journals are written',
    ...guarded,
  },
  telemetry: {
    shape: telemetry,
    summary: 'where `troupe serve` sends OpenTelemetry traces; `content` adds arguments, results and answers',
    trustEffect: 'send traces to another place',
    ...guarded,
  },
  webhooks: {
    shape: webhooksShape,
    summary: 'requests to other programs when sessions end or wait (`outgoing`), and requests that start sessions (`incoming`)',
    trustEffect: 'send answers to other places, and let others start agents',
    ...guarded,
  },
} as const satisfies { readonly [name: string]: Section }

export type SectionName = keyof typeof sections
export const sectionNames = Object.keys(sections) as readonly SectionName[]
export const sectionOf = (name: SectionName): Section => sections[name]

/** A whole `.ai-agent.json`. `$schema` is for editors. */
export const configShape: Shape = {
  kind: 'fields',
  of: { $schema: text('./ai-agent.schema.json'), ...Object.fromEntries(sectionNames.map((name) => [name, sections[name].shape])) },
}

/** What a withheld part can do with trust. `withheld` is an entry of `PendingFile.withheld`. */
export function trustEffect(withheld: string): string | undefined {
  if (withheld.startsWith('variables ')) return 'set keys, addresses and other values through its variables'
  return sectionOfPart(withheld)?.trustEffect
}

/** Whether a person must see all of a withheld part to decide, because it runs something or sends data to a place. */
export const mustShowInFull = (withheld: string): boolean => sectionOfPart(withheld)?.isMinor !== true

function sectionOfPart(withheld: string): Section | undefined {
  const path = withheld.replace(/^the (?:\d+ )?allow rules? in /, '')
  const name = sectionNames.find((each) => path.startsWith(each) && /^(?:$|[.[,])/.test(path.slice(each.length)))
  return name && sections[name]
}
