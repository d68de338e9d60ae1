import type { Json, JsonObject, McpServerAuth, McpServerDefinition, McpServerSettings } from '../contracts/index.ts'

/** `__` separates the server from the tool in the names that models see. `agent__name` is a child. */
export const serverName = /^(?!agent$)(?=.{1,40}$)[A-Za-z0-9](?:[A-Za-z0-9-]|_(?![_]|$))*$/

export const serverNaming = 'Use up to 40 letters, digits, `-` and single `_`, begin with a letter or a digit, and not `agent`'

/** Settings that have been checked, with their type. */
export function serverDefinition(settings: McpServerSettings): McpServerDefinition {
  const type = settings.type ?? ('command' in settings ? 'stdio' : 'auto')
  const auth = 'auth' in settings && settings.auth && { type: 'oauth', ...settings.auth }
  return { ...settings, type, ...(auth && { auth }) } as McpServerDefinition
}

/** What makes a server another one: program and arguments, or URL, and the names of variables and headers. Their values may be secrets. */
export function serverIdentity(definition: McpServerDefinition): JsonObject {
  if (definition.type !== 'stdio') {
    const { type, url, headers, auth } = definition
    // Which of the two protocols it speaks makes no other server.
    return { type: type === 'auto' ? 'http' : type, url, headers: namesIn(headers), ...(auth && { auth: authIdentity(auth) }) }
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
