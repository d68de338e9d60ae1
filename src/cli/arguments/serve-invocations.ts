import type { LogFormat } from '../terminal/display-options.ts'
import type { Common, ProjectArguments } from './project-invocations.ts'
import { type ServeCommandName, type TokenAction, tokenActions, type WebhookAction, webhookActions } from './serve-command-specs.ts'

/** Values are as written; `serve/` parses them. */
export interface ServeInvocation extends Common {
  readonly kind: 'serve'
  /** Files, folders and patterns. Empty: the agents of the project. */
  readonly agents: readonly string[]
  readonly host?: string | undefined
  readonly port?: string | undefined
  readonly drain?: string | undefined
  /** MCP over standard input and output, and nothing else. */
  readonly isStdio: boolean
  readonly hasLegacyTransports: boolean
  /** Whether to open the web chat in the browser. */
  readonly opens: boolean
  readonly dataDir?: string | undefined
  readonly isTrusted: boolean
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  /** Default: by whether there is a terminal. */
  readonly logFormat?: LogFormat | undefined
}
/** The assistant: `serve` with the kernel, under a supervisor. */
export interface UpInvocation extends Common {
  readonly kind: 'up'
  readonly serve: ServeInvocation
  /** Whether changed extensions are loaded again. */
  readonly watches: boolean
}
export interface TokenInvocation extends Common {
  readonly kind: 'token'
  readonly action: TokenAction
  /** The value of `--name`, or the argument. */
  readonly name?: string | undefined
  readonly argument?: string | undefined
  readonly scopes?: string | undefined
  readonly agents?: string | undefined
  readonly budget?: string | undefined
  readonly rate?: string | undefined
  readonly expires?: string | undefined
  readonly dataDir?: string | undefined
}
export interface AuditInvocation extends Common {
  readonly kind: 'audit'
  readonly since?: string | undefined
  readonly dataDir?: string | undefined
}
export interface WebhooksInvocation extends Common {
  readonly kind: 'webhooks'
  readonly action: WebhookAction
  readonly id?: string | undefined
  readonly isAll: boolean
  readonly dataDir?: string | undefined
}
type AnyServeInvocation = ServeInvocation | UpInvocation | TokenInvocation | AuditInvocation | WebhooksInvocation

export function serveInvocation(
  name: ServeCommandName,
  { rest, display, has, flagValue, flagValues }: ProjectArguments,
): AnyServeInvocation {
  const common: Common = { output: has('json') ? 'json' : 'answer', display, configFile: flagValue('config') }
  const dataDir = flagValue('data-dir')
  const serve = {
    agents: flagValues('agent'),
    host: flagValue('host'),
    port: flagValue('port'),
    drain: flagValue('drain'),
    isStdio: has('stdio'),
    hasLegacyTransports: has('legacy-transports'),
    opens: has('open'),
    dataDir,
    isTrusted: has('trust'),
    allow: flagValues('allow').map((pattern) => pattern.trim()),
    deny: flagValues('deny').map((pattern) => pattern.trim()),
    logFormat: flagValue('log-format') as LogFormat | undefined,
  }
  switch (name) {
    case 'serve':
      return { kind: name, ...serve, ...common }
    case 'up':
      return { kind: name, serve: { kind: 'serve', ...serve, ...common }, watches: has('watch'), ...common }
    case 'token': {
      const [action, argument] = rest
      return {
        kind: name,
        action: tokenActions.find((known) => known === action) ?? 'list',
        argument,
        name: flagValue('name'),
        scopes: flagValue('scopes'),
        agents: flagValue('agents'),
        budget: flagValue('budget'),
        rate: flagValue('rate'),
        expires: flagValue('expires'),
        dataDir,
        ...common,
      }
    }
    case 'audit':
      return { kind: name, since: flagValue('since'), dataDir, ...common }
    case 'webhooks': {
      const [action, id] = rest
      const known = webhookActions.find((each) => each === action) ?? 'list'
      return { kind: name, action: known, id, isAll: has('all'), dataDir, ...common }
    }
    default:
      return name satisfies never
  }
}
