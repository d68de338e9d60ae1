// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import { createHash } from 'node:crypto'
import { isAbsolute, join } from 'node:path'
import type {
  HttpServerDefinition,
  McpProtocol,
  McpServerAuth,
  McpServerDefinition,
  SandboxPolicy,
  SourceSession,
  StdioServerDefinition,
} from '../../contracts/index.ts'
import { fillPlaceholders } from '../../policy/placeholders.ts'
import { isProgram } from '../trusted-path.ts'
import { checkAuth } from './auth/auth-settings.ts'
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
  /** Whether SSE is tried if the server does not know Streamable HTTP. */
  readonly fallsBack: boolean
  readonly url: URL
  readonly headers: { readonly [name: string]: string }
  readonly auth: McpServerAuth | undefined
}

type Surroundings = Pick<McpHost, 'workspace' | 'environment'>

/** @throws McpError if a variable is missing, or a program or a URL is not valid. */
export function resolveServer(
  name: string,
  definition: McpServerDefinition,
  { overlay, host }: { readonly overlay: SourceSession['overlay']; readonly host: Surroundings },
): ResolvedServer {
  const server = {
    name,
    timeoutMs: definition.timeout ?? defaultServerTimeoutMs,
    share: definition.share ?? 'session',
    protocol: definition.protocol ?? (definition.type === 'http' || definition.type === 'auto' ? 'auto' : '2025-11-25'),
    ...(definition.type === 'stdio' ? resolveStdio(name, definition, { overlay, host }) : resolveHttp(name, definition, overlay)),
  } as const
  const key = createHash('sha256')
    .update(JSON.stringify([server, host.workspace]))
    .digest('hex')
  return { ...server, key }
}

function resolveHttp(
  name: string,
  { type, ...definition }: HttpServerDefinition,
  overlay: SourceSession['overlay'],
): Omit<ResolvedHttp, keyof Resolved> {
  const written = { url: definition.url, headers: definition.headers ?? {}, auth: definition.auth }
  const { url: address, headers, auth } = filledTexts(name, written, overlay)
  const url = parseServerUrl(name, address)
  checkHeaders(name, headers)
  if (auth) checkAuth(name, auth, url)
  // SSE is older than this revision.
  const fallsBack = type === 'auto' && definition.protocol !== '2026-07-28'
  return { type: type === 'auto' ? 'http' : type, fallsBack, url, headers, auth }
}

function resolveStdio(
  name: string,
  { command: program, args: given = [], env = {}, cwd: folder = '.', sandbox = 'off' }: StdioServerDefinition,
  { overlay, host }: { readonly overlay: SourceSession['overlay']; readonly host: Surroundings },
): Omit<ResolvedStdio, keyof Resolved> {
  const { command, args, ...filled } = filledTexts(name, { command: program, args: given, env, folder }, overlay)
  const environment = { ...baseEnvironment(host.environment), ...filled.env }
  const cwd = isAbsolute(filled.folder) ? filled.folder : join(host.workspace, filled.folder)
  const found = findProgram(command, cwd, environment.PATH ?? '')
  if (found !== undefined) return { type: 'stdio', program: found, args, environment, cwd, sandbox }
  const remedy = 'Install it, or fix `command`. A relative path starts at `cwd`.'
  throw configFailure(`The program of the MCP server "${name}" was not found: ${command}`, remedy)
}

/** With the values of variables in all texts. */
function filledTexts<Value>(server: string, written: Value, overlay: SourceSession['overlay']): Value {
  const missing = new Set<string>()
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fill(each)]))
    if (typeof value !== 'string') return value
    const filled = fillPlaceholders(value, (name) => (Object.hasOwn(overlay, name) ? overlay[name] : undefined))
    if (typeof filled === 'string') return filled
    for (const name of filled.missing) missing.add(name)
    return ''
  }
  const all = fill(written) as Value
  if (missing.size > 0) throw missingVariables(server, [...missing])
  return all
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
