// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { createHash } from 'node:crypto'
import { isAbsolute, join } from 'node:path'
import type { McpProtocol, McpServerAuth, McpServerDefinition, SandboxPolicy, SourceSession } from '../../contracts/index.ts'
import { parsePlaceholders, placeholderRemedy } from '../../policy/placeholders.ts'
import { isProgram } from '../trusted-path.ts'
import { checkAuth, resolveAuth } from './auth/auth-settings.ts'
import { configFailure } from './mcp-failure.ts'
import type { McpHost } from './mcp-host.ts'
import { defaultServerTimeoutMs } from './mcp-limits.ts'

/** A server with the values of one session. */
export type ResolvedServer = ResolvedStdio | ResolvedHttp

interface Resolved {
  readonly name: string
  /** Sessions with the same key could use the same connection. */
  readonly key: string
  readonly protocol: McpProtocol
  readonly timeoutMs: number
  readonly share: 'session' | 'process'
}

export interface ResolvedStdio extends Resolved {
  readonly type: 'stdio'
  /** The path of a program. */
  readonly program: string
  readonly args: readonly string[]
  readonly environment: { readonly [name: string]: string }
  readonly cwd: string
  readonly sandbox: 'off' | Partial<Omit<SandboxPolicy, 'mode'>>
}

export interface ResolvedHttp extends Resolved {
  readonly type: 'http' | 'sse'
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  readonly auth: McpServerAuth | undefined
}

/** @throws McpError if a variable is missing, or a program or a URL is not valid. */
export function resolveServer(
  name: string,
  definition: McpServerDefinition,
  { overlay, host }: { readonly overlay: SourceSession['overlay']; readonly host: McpHost },
): ResolvedServer {
  const missing = new Set<string>()
  const text = (written: string): string => resolveText(written, { overlay, name, missing })
  const texts = (written: { readonly [name: string]: string } = {}): { readonly [name: string]: string } =>
    Object.fromEntries(Object.entries(written).map(([key, value]) => [key, text(value)]))
  const common = {
    name,
    timeoutMs: definition.timeout ?? defaultServerTimeoutMs,
    share: definition.share ?? 'session',
    protocol: definition.protocol ?? (definition.type === 'http' ? 'auto' : '2025-11-25'),
  } as const
  const finish = <Server extends object>(server: Server): Server & { readonly key: string } => {
    if (missing.size > 0) throw missingVariables(name, [...missing])
    return {
      ...server,
      key: createHash('sha256')
        .update(JSON.stringify([server, host.workspace]))
        .digest('hex'),
    }
  }
  if (definition.type !== 'stdio') {
    const written = text(definition.url)
    const headers = texts(definition.headers)
    const auth = definition.auth && resolveAuth(definition.auth, text)
    if (missing.size > 0) throw missingVariables(name, [...missing])
    const url = parseServerUrl(name, written)
    checkHeaders(name, headers)
    if (auth) checkAuth(name, auth, url)
    return finish({ ...common, type: definition.type, url, headers, auth })
  }
  const environment = { ...baseEnvironment(host.environment), ...texts(definition.env) }
  const cwd = text(definition.cwd ?? '.')
  const folder = isAbsolute(cwd) ? cwd : join(host.workspace, cwd)
  const [command, args] = [text(definition.command), (definition.args ?? []).map(text)]
  if (missing.size > 0) throw missingVariables(name, [...missing])
  const program = findProgram(command, folder, environment.PATH ?? '')
  if (program === undefined) {
    const remedy = 'Install it, or fix `command`. A relative path starts at `cwd`.'
    throw configFailure(`The program of the MCP server "${name}" was not found: ${command}`, remedy)
  }
  return finish({ ...common, type: 'stdio', program, args, environment, cwd: folder, sandbox: definition.sandbox ?? 'off' })
}

interface TextPlace {
  readonly overlay: SourceSession['overlay']
  readonly name: string
  readonly missing: Set<string>
}

function resolveText(written: string, { overlay, name, missing }: TextPlace): string {
  const parsed = parsePlaceholders(written)
  if (!parsed.ok) throw configFailure(`The MCP server "${name}": ${parsed.message}`, placeholderRemedy)
  return parsed.parts
    .map((part) => {
      if (part.kind === 'literal') return part.text
      const value = Object.hasOwn(overlay, part.name) ? overlay[part.name] : undefined
      if (value !== undefined && value !== '') return value
      if (part.fallback === undefined) missing.add(part.name)
      return part.fallback ?? ''
    })
    .join('')
}

function missingVariables(name: string, variables: readonly string[]): Error {
  const several = variables.length > 1
  return configFailure(
    `The MCP server "${name}" needs the variable${several ? 's' : ''} ${variables.join(', ')}, which ${several ? 'are' : 'is'} not set`,
    `Set ${several ? 'them' : 'it'} in \`.ai-agent.env\` or in the environment, or write a default: \`\${${variables[0]}:-value}\`.`,
  )
}

function parseServerUrl(name: string, written: string): URL {
  const url = URL.canParse(written) ? new URL(written) : undefined
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    throw configFailure(`The URL of the MCP server "${name}" is not an HTTP or HTTPS URL`, 'Fix `url`.')
  // `fetch` would refuse it with an error that contains the password.
  if (url.username === '' && url.password === '') return url
  throw configFailure(`The URL of the MCP server "${name}" contains a user name or a password`, 'Set `headers.Authorization` instead.')
}

/** The error of `fetch` would contain the value, which may be a secret. */
function checkHeaders(server: string, headers: { readonly [name: string]: string }): void {
  for (const [header, value] of Object.entries(headers))
    try {
      new Headers([[header, value]])
    } catch {
      const message = `The header ${JSON.stringify(header)} of the MCP server "${server}" has a name or a value that HTTP does not allow`
      throw configFailure(message, 'Remove line breaks and characters outside Latin-1.')
    }
}

const passedOn =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TERM|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|APPDATA|LOCALAPPDATA|USERPROFILE)$/i

/** Never the whole environment: it holds keys of other services. */
function baseEnvironment(environment: McpHost['environment']): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value !== undefined && passedOn.test(name) ? [[name, value]] : [])),
  )
}

function findProgram(command: string, cwd: string, path: string): string | undefined {
  if (command.includes('/')) return [isAbsolute(command) ? command : join(cwd, command)].find(isProgram)
  const folders = path.split(':').filter((folder) => isAbsolute(folder))
  return folders.map((folder) => join(folder, command)).find(isProgram)
}
