// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import type { JsonObject } from '../../contracts/index.ts'
import { serverConflicts, serverName, serverNaming, serverTransports } from '../../policy/mcp-servers.ts'
import { parseHttpAddress } from '../../util/read-address.ts'
import { type AgentOptionKey, agentOptions, keysInGroup } from '../agent-file/agent-options.ts'
import type { FieldConflict, Shape } from './shape.ts'

const text = (example: string, check?: (text: string) => string | undefined): Shape => ({ kind: 'text', example, ...(check && { check }) })
const anyText = (example: string): Shape => ({ kind: 'text', example, mayBeEmpty: true })
const choice = (of: readonly string[]): Shape => ({ kind: 'value', type: { kind: 'choice', of }, example: JSON.stringify(of[0]) })
const boolean: Shape = { kind: 'value', type: { kind: 'boolean' }, example: 'true' }
const integer = (example: string): Shape => ({ kind: 'value', type: { kind: 'integer', min: 1 }, example })
const patterns: Shape = { kind: 'list', of: { kind: 'text', example: 'list_*', isLiteral: true }, example: '["list_*"]' }
const byPattern = (of: readonly string[]): Shape => ({ kind: 'names', of: choice(of), example: `{ "list_*": "${of[0]}" }`, name: /\S/ })

const checkUrl = (written: string): string | undefined => {
  const read = parseHttpAddress(written)
  if (!read) return 'must be an http: or https: address'
  if (read.url.username !== '' || read.url.password !== '') return 'cannot have a user: set credentials in `headers`'
  return read.isAsWritten ? undefined : `cannot have spaces or characters that change the address: requests would go to ${read.url.origin}`
}

export const queueShape: Shape = { kind: 'fields', of: { concurrent: integer('8'), perMinute: integer('300') } }

const duration: Shape = { kind: 'value', type: { kind: 'duration' }, example: '"30s"' }

/** As other programs write it. */
const common: { readonly [key: string]: Shape } = {
  command: text('npx'),
  args: { kind: 'list', of: anyText('-y'), example: '["-y", "some-server"]' },
  env: { kind: 'names', of: anyText('${LAB_TOKEN}'), example: '{ "TOKEN": "${LAB_TOKEN}" }', name: /^[^=\s]+$/ },
  cwd: text('./server'),
  url: text('https://lab.example.org/mcp', checkUrl),
  headers: { kind: 'names', of: anyText('Bearer ${LAB_TOKEN}'), example: '{ "X-Team": "lab" }', name: /^[\w!#$%&'*+.^`|~-]+$/ },
  timeout: duration,
}

const auth: Shape = {
  kind: 'fields',
  required: ['type'],
  of: {
    type: choice(['oauth', 'client_credentials']),
    clientId: text('troupe'),
    clientSecret: text('${LAB_SECRET}'),
    clientMetadataUrl: text('https://lab.example.org/client.json', checkUrl),
    redirectPort: integer('8765'),
    privateKey: text('${LAB_PRIVATE_KEY}'),
    scopes: { kind: 'list', of: text('read'), example: '["read"]' },
    issuer: text('https://login.example.org', checkUrl),
  },
  findConflicts({ type, ...given }) {
    const foreign = (type === 'oauth' ? ['privateKey'] : ['clientMetadataUrl', 'redirectPort']).filter((key) => given[key] !== undefined)
    const needed = type === 'oauth' || given.clientId !== undefined ? [] : ['clientId']
    const hasKey = type === 'oauth' || given.clientSecret !== undefined || given.privateKey !== undefined
    return [
      ...foreign.map((key) => ({
        key,
        message: `has \`${key}\`, which has no effect with \`${String(type)}\``,
        remedy: `Remove \`${key}\`.`,
      })),
      ...needed.map((key) => ({ key: 'type', message: `needs \`${key}\``, remedy: `Add \`${key}\`.` })),
      ...(hasKey ? [] : [{ key: 'type', message: 'needs `clientSecret` or `privateKey`', remedy: 'Add one of them.' }]),
    ]
  },
}

const sandbox: Shape = {
  kind: 'fields',
  of: Object.fromEntries(
    keysInGroup('sandbox').flatMap((key): readonly [string, Shape][] =>
      key === 'mode' ? [] : [[key, { kind: 'value', ...agentOptions[`sandbox.${key}` as AgentOptionKey] }]],
    ),
  ),
}

const findConflicts = (server: JsonObject): readonly FieldConflict[] => serverConflicts({ ...server, type: ownType(server.type) })

const named = (of: Shape): Shape => ({
  kind: 'names',
  of,
  example: '{ "files": { "command": "npx", "args": ["-y", "some-server"] } }',
  name: serverName,
  naming: serverNaming,
})

/** `mcpServers` of a configuration and of an agent file. */
export const serversShape: Shape = named({
  kind: 'fields',
  isWhole: true,
  findConflicts,
  of: {
    type: choice(serverTransports),
    ...common,
    auth,
    tools: { kind: 'fields', of: { allow: patterns, deny: patterns } },
    effects: byPattern(['read', 'idempotent', 'write']),
    approval: byPattern(['ask', 'allow']),
    queue: queueShape,
    protocol: choice(['auto', '2026-07-28', '2025-11-25']),
    connect: choice(['lazy', 'eager']),
    required: boolean,
    sandbox: { kind: 'or', word: 'off', of: sandbox },
    share: choice(['session', 'process']),
  },
})

/** Names of transports in other programs. */
const typeAliases: { readonly [written: string]: string } = { local: 'stdio', 'streamable-http': 'http', streamableHttp: 'http' }

export const ownType = (written: unknown): string | undefined =>
  typeof written === 'string' ? (typeAliases[written] ?? written) : undefined

/** `mcpServers` of a `.mcp.json`, which other programs use, too. */
export const foreignServersShape: Shape = named({
  kind: 'fields',
  isWhole: true,
  isLenient: true,
  findConflicts,
  of: { type: choice([...serverTransports, ...Object.keys(typeAliases)]), ...common, disabled: boolean },
})
