import type { LocalToken, ServerAddress } from '../../../server/index.ts'
import type { Demonstration } from '../../../server/rest/index.ts'
import { columns, columnsOn, type Row } from '../../terminal/columns.ts'
import type { DisplayOptions } from '../../terminal/display-options.ts'
import { logRecord } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'

export interface BannerFacts {
  readonly address: ServerAddress
  readonly agents: readonly string[]
  readonly local: LocalToken
  /** Present in the demonstration. */
  readonly demo?: DemoFacts | undefined
}

export interface DemoFacts extends Pick<Demonstration, 'model' | 'offers'> {
  readonly workspace: string
  /** The data folder. */
  readonly sessions: string
}

/** Says where the server is and how to stop it. A log that others may read gets the file of the token instead of the token. */
export async function printBanner(facts: BannerFacts, host: Host, display: DisplayOptions): Promise<void> {
  const { address, agents, local, demo } = facts
  const base = address.url
  const urls = { web: `${base}/`, rest: `${base}/v1`, openai: `${base}/v1`, anthropic: base, mcp: `${base}/mcp`, docs: `${base}/docs` }
  if (display.logFormat === 'json')
    return host.stderr.line(logRecord(host, { level: 'info', msg: 'listening', url: base, urls, agents, tokenFile: local.path }))
  const rows = columns(
    [
      ['Web chat', webAddress(facts)],
      ['Agents', agents.join(', ')],
      ...(demo
        ? demoRows(demo)
        : ([
            ['REST', urls.rest],
            ['OpenAI', `${urls.openai} (base URL)`],
            ['Anthropic', `${urls.anthropic} (base URL)`],
            ['MCP', urls.mcp],
            ['Reference', urls.docs],
            ...(local.path === undefined ? [] : [['Token', local.path] as const]),
          ] as const)),
    ],
    { maxWidth: columnsOn(host.stderr) },
  )
  const title = demo ? 'Troupe: demonstration of the web chat' : `Troupe listens at ${base}`
  await host.stderr.lines([host.paint('bold', title), ...rows, host.paint('dim', 'Stop with Ctrl-C.')])
}

/** The page takes the token out of the address. */
export const webAddress = ({ address, local }: Pick<BannerFacts, 'address' | 'local'>): string => `${address.url}/#token=${local.token}`

function demoRows({ model, offers, workspace, sessions }: DemoFacts): readonly Row[] {
  const found = offers.map((offer) => `${offer.model} (${offer.from})`).join(', ')
  const hint = found === '' ? 'For a model, paste a key in the page or start Ollama.' : `Found: ${found}. Choose it in the page.`
  return [
    ['Model', `${model === 'recorded' ? 'none: recorded answers, with real tools.' : model} ${hint}`],
    ['Files', workspace],
    ['Sessions', sessions],
  ]
}
