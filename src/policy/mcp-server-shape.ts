// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import type { JsonObject, McpServerSettings } from '../contracts/index.ts'
import { parseHttpAddress } from '../util/read-address.ts'
import { serverName, serverNaming } from './mcp-servers.ts'
import { queueShape } from './queue-shape.ts'
import { anyText, boolean, choice, type FieldConflict, type FieldsShape, literals, type Shape, text } from './shape.ts'

const patterns = literals('list_*')
const byPattern = (of: readonly string[]): Shape => ({ kind: 'names', of: choice(of), example: `{ "list_*": "${of[0]}" }`, name: /\S/ })

const checkUrl = (written: string): string | undefined => {
  const read = parseHttpAddress(written)
  if (!read) return 'must be an http: or https: address'
  if (read.url.username !== '' || read.url.password !== '') return 'cannot have a user: set credentials in `headers`'
  return read.isAsWritten ? undefined : `cannot have spaces or characters that change the address: requests would go to ${read.url.origin}`
}

const transports = ['stdio', 'http', 'sse', 'auto']

/** As other programs write it. */
const common = {
  command: text('npx'),
  args: { kind: 'list', of: anyText('-y'), example: '["-y", "some-server"]' },
  env: { kind: 'names', of: anyText('${LAB_TOKEN}'), example: '{ "TOKEN": "${LAB_TOKEN}" }', name: /^[^=\s]+$/ },
  cwd: text('./server'),
  url: text('https://lab.example.org/mcp', checkUrl),
  headers: { kind: 'names', of: anyText('Bearer ${LAB_TOKEN}'), example: '{ "X-Team": "lab" }', name: /^[\w!#$%&'*+.^`|~-]+$/ },
  timeout: { kind: 'value', type: { kind: 'duration' }, example: '"30s"' },
} as const satisfies { readonly [key: string]: Shape }

const auth: Shape = {
  kind: 'fields',
  of: {
    type: choice(['oauth', 'client_credentials']),
    clientId: text('troupe'),
    clientSecret: text('${LAB_SECRET}'),
    clientMetadataUrl: text('https://lab.example.org/client.json', checkUrl),
    redirectPort: { kind: 'value', type: { kind: 'integer', min: 1, max: 65_535 }, example: '8765' },
    privateKey: text('${LAB_PRIVATE_KEY}'),
    scopes: { kind: 'list', of: text('read'), example: '["read"]' },
    issuer: text('https://login.example.org', checkUrl),
  },
  findConflicts({ type = 'oauth', ...given }) {
    const isMissing = (key: string): boolean => given[key] === undefined
    if (type === 'oauth') return withoutEffect(given, ['privateKey'], 'oauth')
    const missing = [
      ...(isMissing('clientId') ? ['`clientId`'] : []),
      ...(isMissing('clientSecret') && isMissing('privateKey') ? ['`clientSecret` or `privateKey`'] : []),
    ]
    return [
      ...withoutEffect(given, ['clientMetadataUrl', 'redirectPort'], 'client_credentials'),
      ...missing.map((keys) => ({ key: 'type', message: `needs ${keys}`, remedy: `Add ${keys}.` })),
    ]
  },
}

const withoutEffect = (given: JsonObject, keys: readonly string[], owner: string): readonly FieldConflict[] =>
  keys.flatMap((key) =>
    given[key] === undefined
      ? []
      : [{ key, message: `has \`${key}\`, which has no effect with \`${owner}\``, remedy: `Remove \`${key}\`.` }],
  )

/** Keys that exclude each other, or that belong to another transport. Each is valid alone. */
function findConflicts(server: JsonObject): readonly FieldConflict[] {
  const isProcess = server.command !== undefined
  const keep = '`command` for a program, or `url` for a server on the network.'
  if (isProcess && server.url !== undefined) return [{ key: 'url', message: 'has both `command` and `url`', remedy: `Keep ${keep}` }]
  if (!isProcess && server.url === undefined) return [{ key: 'type', message: 'has neither `command` nor `url`', remedy: `Add ${keep}` }]
  const needed = isProcess ? 'command' : 'url'
  const type = ownType(server.type)
  if (type === undefined || (type === 'stdio') === isProcess)
    return withoutEffect(server, isProcess ? ['headers', 'auth'] : ['args', 'env', 'cwd', 'sandbox'], needed)
  const remedy = `Use ${isProcess ? '`stdio`' : '`http` or `sse`'}, or remove \`type\`.`
  return [{ key: 'type', message: `has the type \`${type}\` and \`${needed}\``, remedy }]
}

type ServerKey = McpServerSettings extends infer Each ? (Each extends unknown ? keyof Each : never) : never

/** A server. Programs and files check its sandbox with the keys of agents. */
export const serverShape = {
  kind: 'fields',
  isWhole: true,
  findConflicts,
  of: {
    type: choice(transports),
    ...common,
    auth,
    tools: { kind: 'fields', of: { allow: patterns, deny: patterns } },
    effects: byPattern(['read', 'idempotent', 'write']),
    approval: byPattern(['ask', 'allow']),
    queue: queueShape,
    protocol: choice(['auto', '2026-07-28', '2025-11-25']),
    connect: choice(['lazy', 'eager']),
    required: boolean,
    sandbox: { kind: 'any' },
    share: choice(['session', 'process']),
  } satisfies { readonly [Key in ServerKey]: Shape },
} as const satisfies FieldsShape

/** Names of transports in other programs. */
const typeAliases: { readonly [written: string]: string } = { local: 'stdio', 'streamable-http': 'http', streamableHttp: 'http' }

export const ownType = (written: unknown): string | undefined =>
  typeof written === 'string' ? (typeAliases[written] ?? written) : undefined

/** `mcpServers`. */
export const namedServers = <Value>(of: Shape<Value>): Shape<Value> => ({
  kind: 'names',
  of,
  example: '{ "files": { "command": "npx", "args": ["-y", "some-server"] } }',
  name: serverName,
  naming: serverNaming,
})

/** `mcpServers` of a `.mcp.json`, which other programs use, too. */
export const foreignServersShape: Shape = namedServers({
  kind: 'fields',
  isWhole: true,
  isLenient: true,
  findConflicts,
  of: { type: choice([...transports, ...Object.keys(typeAliases)]), ...common, disabled: boolean },
})
