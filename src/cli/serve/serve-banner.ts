import type { Host } from '../host/process-host.ts'
import type { DisplayOptions } from '../options/parse-arguments.ts'
import { columns, columnsOn } from '../terminal/columns.ts'
import { logRecord } from '../terminal/print-messages.ts'
import type { LocalToken } from './local-token.ts'
import { hostInUrl, isAnyAddress } from './serve-settings.ts'

export interface BannerFacts {
  readonly host: string
  readonly port: number
  readonly agents: readonly string[]
  readonly local: LocalToken
}

/** Says where the server is and how to stop it. A log that others may read gets the file of the token instead of the token. */
export async function printBanner({ host: address, port, agents, local }: BannerFacts, host: Host, display: DisplayOptions): Promise<void> {
  const base = baseUrl(address, port)
  const urls = { rest: `${base}/v1`, openai: `${base}/v1`, anthropic: base, mcp: `${base}/mcp`, docs: `${base}/docs` }
  if (display.logFormat === 'json')
    return host.stderr.line(logRecord(host, { level: 'info', msg: 'listening', url: base, urls, agents, tokenFile: local.path }))
  const rows = columns(
    [
      ['Open', `${base}/#token=${local.token}`],
      ['Agents', agents.join(', ')],
      ['REST', urls.rest],
      ['OpenAI', `${urls.openai} (base URL)`],
      ['Anthropic', `${urls.anthropic} (base URL)`],
      ['MCP', urls.mcp],
      ['Reference', urls.docs],
      ['Token', local.path],
    ],
    { maxWidth: columnsOn(host.stderr) },
  )
  await host.stderr.lines([host.paint('bold', `Troupe listens at ${base}`), ...rows, host.paint('dim', 'Stop with Ctrl-C.')])
}

export const baseUrl = (address: string, port: number): string =>
  `http://${isAnyAddress(address) ? 'localhost' : hostInUrl(address)}:${port}`
