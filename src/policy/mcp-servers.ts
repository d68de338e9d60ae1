import type { Json, JsonObject, McpServerAuth, McpServerDefinition, McpServerSettings } from '../contracts/index.ts'

/** `__` separates the server from the tool in the names that models see. `agent__name` is a child. */
export const serverName = /^(?!agent$)(?=.{1,40}$)[A-Za-z0-9](?:[A-Za-z0-9-]|_(?![_]|$))*$/

export const isServerName = (name: string): boolean => serverName.test(name)

export const serverNaming = 'Use up to 40 letters, digits, `-` and single `_`, begin with a letter or a digit, and not `agent`'

const transports = ['stdio', 'http', 'sse'] as const

/** The keys that only servers of one kind have. */
export const transportKeys = {
  stdio: ['command', 'args', 'env', 'cwd', 'sandbox'],
  http: ['url', 'headers', 'auth'],
} as const

export interface ServerConflict {
  readonly key: string
  readonly message: string
  readonly remedy: string
}

/** Keys that exclude each other, or that belong to another transport. Each is valid alone. */
export function serverConflicts(server: { readonly [key: string]: unknown }): readonly ServerConflict[] {
  const has = (key: string): boolean => server[key] !== undefined
  if (has('command') && has('url'))
    return [
      {
        key: 'url',
        message: 'has both `command` and `url`',
        remedy: 'Keep `command` for a program, or `url` for a server on the network.',
      },
    ]
  if (!has('command') && !has('url'))
    return [
      {
        key: 'type',
        message: 'has neither `command` nor `url`',
        remedy: 'Add `command` for a program, or `url` for a server on the network.',
      },
    ]
  const kind = has('command') ? 'stdio' : 'http'
  const needed = kind === 'stdio' ? 'command' : 'url'
  const { type } = server
  if (type !== undefined && (type === 'stdio') !== (kind === 'stdio'))
    return [
      {
        key: 'type',
        message: `has the type \`${String(type)}\` and \`${needed}\``,
        remedy: `Use ${kind === 'stdio' ? '`stdio`' : '`http` or `sse`'}, or remove \`type\`.`,
      },
    ]
  const wrong = transportKeys[kind === 'stdio' ? 'http' : 'stdio'].filter(has)
  return wrong.map((key) => ({ key, message: `has \`${key}\`, which has no effect with \`${needed}\``, remedy: `Remove \`${key}\`.` }))
}

/** Settings that have been checked, with their type. */
export function serverDefinition(settings: McpServerSettings): McpServerDefinition {
  const type = settings.type ?? ('command' in settings ? 'stdio' : 'http')
  return { ...settings, type } as McpServerDefinition
}

/** What a person trusts: program and arguments, or URL, and the names of variables and headers. Not their values. */
export function serverIdentity(definition: McpServerDefinition): JsonObject {
  if (definition.type !== 'stdio') {
    const { type, url, headers, auth } = definition
    return { type, url, headers: namesIn(headers), ...(auth && { auth: authIdentity(auth) }) }
  }
  const { command, args = [], env, cwd = '.', sandbox = 'off' } = definition
  return { type: 'stdio', command, args, env: namesIn(env), cwd, sandbox: sandbox as Json }
}

/** Without secrets and scopes. */
function authIdentity(auth: McpServerAuth): JsonObject {
  const { type, clientId = '', issuer = '' } = auth
  return { type, clientId, issuer, ...(auth.type === 'oauth' && { clientMetadataUrl: auth.clientMetadataUrl ?? '' }) }
}

const namesIn = (map: { readonly [name: string]: string } = {}): readonly string[] => Object.keys(map).toSorted()

export const serverTransports: readonly string[] = transports
