import type { McpServerDefinition } from '../../../contracts/index.ts'
import type { LoginResult, Logout, McpHost } from '../../../tools/mcp/index.ts'
import { plural } from '../../../util/plural.ts'
import type { DisplayOptions } from '../../terminal/display-options.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { openBrowser } from '../../terminal/open-browser.ts'
import { printDocument, printNotice, printWarning } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { nextLine } from '../../terminal/read-line.ts'
import { mayAsk } from '../trust/trust-question.ts'

interface LoginRequest {
  readonly name: string
  readonly definition: McpServerDefinition
  readonly servers: McpHost
  readonly host: Host
  readonly output: 'answer' | 'json'
  readonly display: DisplayOptions
}

const loginMs = 10 * 60_000

/** `troupe mcp login NAME` */
export async function mcpLogin(request: LoginRequest & { readonly opensBrowser: boolean }): Promise<number> {
  const { name, definition, servers, host, output, opensBrowser } = request
  const { loginToServer } = await import('../../../tools/mcp/index.ts')
  const { stderr, stdin, paint } = host
  const show = (url: URL): void => {
    const isOpened = opensBrowser && openBrowser(url, host)
    const ask = isOpened
      ? `Log in to ${name} in the browser. If it does not open, use this URL:`
      : `Open this URL in a browser to log in to ${name}:`
    void stderr.lines([ask, '', printable(url.href), ''])
    if (mayAsk(host))
      void stderr.prose([
        paint('dim', 'Is the browser on another machine? Then paste the URL of the page where it ends up, and press Enter.'),
      ])
  }
  const paste = async (signal: AbortSignal): Promise<string> => {
    for (;;) {
      const next = await nextLine(stdin, signal)
      // Without an input, the browser decides.
      if (next.kind !== 'line') return new Promise(() => {})
      if (next.text.trim() !== '') return next.text
    }
  }
  const result = await loginToServer(name, definition, {
    host: servers,
    overlay: {},
    show,
    ...(mayAsk(host) && { paste }),
    timeoutMs: loginMs,
  })
  if (output === 'json') await printDocument({ server: name, ...result }, host)
  else await host.stdout.lines(loginLines(name, result))
  return exitCodes.done.code
}

function loginLines(name: string, result: LoginResult): readonly string[] {
  const tools = plural(result.tools, 'tool')
  if (result.kind === 'not_required') return [`${name} requires no login. It has ${tools}.`]
  const { issuer, scope, expiresAt, isRenewable } = result
  const until = expiresAt === undefined ? 'no end given' : `${new Date(expiresAt).toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return [
    `Logged in to ${name}, which has ${tools}.`,
    `Granted by ${printable(issuer)}: ${scope ? printable(scope) : 'no scopes named'}`,
    `Valid until: ${until}${isRenewable ? ', renewed automatically' : ''}`,
  ]
}

/** `troupe mcp logout NAME` */
export async function mcpLogout({ name, definition, servers, host, output, display }: LoginRequest): Promise<number> {
  const { logoutFromServer } = await import('../../../tools/mcp/index.ts')
  const done = await logoutFromServer(name, definition, { host: servers, overlay: {} })
  if (output === 'json') await printDocument({ server: name, ...done }, host)
  else if (done.kind === 'none') await printNotice(`There was no login for ${name}.`, { host, display })
  else await host.stdout.line(`Logged out from ${name}: the tokens are removed${done.kind === 'revoked' ? ' and revoked' : ''}.`)
  const warning = logoutWarning(done)
  if (warning !== undefined) await printWarning(warning, { host, display })
  return exitCodes.done.code
}

function logoutWarning(done: Logout): string | undefined {
  if (done.kind === 'unsupported') return 'The authorization server does not revoke tokens. They are valid until they expire.'
  return done.kind === 'failed' ? `The tokens were not revoked and may be valid until they expire: ${done.why}` : undefined
}
