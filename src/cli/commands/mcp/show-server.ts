import type { Json, JsonSchema, Tool } from '../../../contracts/index.ts'
import { serverDefinition } from '../../../policy/mcp-servers.ts'
import { pinFileOf, placeOf } from '../../../project/index.ts'
import type { LeftOutTool, McpServerFacts, McpToolSource, PinnedTool, ToolPins } from '../../../tools/mcp/index.ts'
import { redactor } from '../../../util/redact.ts'
import type { McpInvocation } from '../../arguments/project-invocations.ts'
import { columns, columnsOn, type Row } from '../../terminal/columns.ts'
import { exactLine } from '../../terminal/exact-text.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printDocument, printNotice, printWarning } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { askYesNo, mayAsk } from '../trust/trust-question.ts'
import { connectMs, projectServers, trustedServer, withDeadline, withServer } from './project-servers.ts'
import { type ShownTool, shownDefinition, shownTool } from './server-texts.ts'

/** `troupe mcp show NAME`: also shows tools that are new or changed, here or in a session, and accepts them. */
export async function showServer({ name = '', output, display, accepts, ...options }: McpInvocation, host: Host): Promise<number> {
  const project = await projectServers(host, options)
  const server = trustedServer(project, name, options.agentFile)
  const pins = pinFileOf(host)
  // What is shown is what a person accepts, even if the server changes its tools meanwhile.
  let seen: { readonly tools: readonly PinnedTool[]; readonly withheld: readonly string[] } | undefined
  // Everything is listed here, so that a person can review it.
  const reviewing: ToolPins = {
    async check(from, tools, definition) {
      seen ??= { tools, withheld: (await pins.check(from, tools, definition)).withheld }
      return { withheld: [] }
    },
  }
  return withServer(server, { setup: project.setup, host, pins: reviewing }, async ({ source, secrets, settings }) => {
    const { text, json } = redactor(secrets)
    const offered = await withDeadline(
      connectMs,
      offerOf(source, () => seen?.withheld ?? []),
    )
    const { tools: reviewed = [], withheld: changed = [] } = seen ?? {}
    const isShown = (each: PinnedTool): boolean => reviewed.some(({ name: tool, hash }) => tool === each.name && hash === each.hash)
    const pending = (await pins.pending(name, serverDefinition(settings))).filter((each) => !isShown(each))
    const withheld = [...new Set([...changed, ...pending.map((each) => each.name)])]
    const about = { name, definition: shownDefinition(server), place: placeOf(server.origin) }
    const document = { ...about, ...offered, changed, pending: pending.map(({ hash: _, ...each }) => each), withheld }
    if (output === 'json') await printDocument({ server: json(document as unknown as Json) }, host)
    else
      await host.stdout.lines(
        linesOf(document, { width: columnsOn(host.stdout), shown: (each) => text(each).split('\n').map(exactLine).join('\n') }),
      )
    const isAccepted =
      withheld.length > 0 && (accepts || (output === 'answer' && mayAsk(host) && (await askYesNo(question(withheld), host))))
    if (isAccepted) {
      await pins.accept(name, [...pending, ...reviewed], serverDefinition(settings))
      await printNotice(`Accepted: ${withheld.join(', ')}.`, { host, display })
    } else if (withheld.length > 0)
      await printWarning(`Withheld until you accept them: ${withheld.join(', ')}. To accept: troupe mcp show ${name} --accept`, {
        host,
        display,
      })
    return exitCodes.done.code
  })
}

/** The instructions of the server are reviewed like a tool. */
const instructionsName = '(instructions)'

const question = (withheld: readonly string[]): string =>
  `\nThese are new or changed since they were accepted: ${withheld.map(printable).join(', ')}. Accept them? [y/N] `

interface Offer {
  readonly facts: McpServerFacts
  /** With the schemas of changed tools: descriptions of parameters can be changed, too. */
  readonly tools: readonly (ShownTool & { readonly inputSchema?: JsonSchema })[]
  readonly prompts: readonly { readonly name: string; readonly description?: string }[]
  readonly resources: readonly { readonly uri: string; readonly name: string }[]
  readonly instructions: string
  readonly leftOut: readonly LeftOutTool[]
}

async function offerOf(source: McpToolSource, withheld: () => readonly string[]): Promise<Offer> {
  const tools = await source.list()
  const instructions = source.instructions() ?? ''
  const isChanged = ({ name }: Tool): boolean => withheld().includes(name.slice(name.indexOf('/') + 1))
  const facts = await source.facts()
  const has = (capability: string): boolean => capability in facts.capabilities
  return {
    facts,
    tools: tools.map((tool) => ({ ...shownTool(tool), ...(isChanged(tool) && { inputSchema: tool.inputSchema }) })),
    prompts: has('prompts') ? await source.prompts() : [],
    resources: has('resources') ? await source.resources() : [],
    instructions,
    leftOut: source.leftOut(),
  }
}

interface Shown extends Offer {
  readonly name: string
  readonly definition: object
  readonly place: string
  /** Withheld, and offered by this connection. */
  readonly changed: readonly string[]
  /** Seen in a session. This connection does not offer them. */
  readonly pending: readonly Omit<PinnedTool, 'hash'>[]
}

function linesOf(
  { name, definition, place, facts, tools, leftOut, prompts, resources, instructions, changed, pending }: Shown,
  { width, shown }: { readonly width: number; shown(text: string): string },
): readonly string[] {
  const table = (entries: readonly Row[]): readonly string[] =>
    columns(
      entries.map(([first, second]): Row => [shown(first), shown(second)]),
      { maxWidth: width },
    )
  const about = [facts.name ?? 'unnamed', facts.version ?? '', `protocol ${facts.protocol}`].filter(Boolean).join(', ')
  const mark = (tool: string): string => (changed.includes(tool) ? ' · CHANGED since it was accepted' : '')
  const rows: readonly Row[] = [
    ['server', `${name} (${about})`],
    ['configured in', place],
    ...Object.entries(definition).map(([key, value]): Row => [key, typeof value === 'string' ? value : JSON.stringify(value)]),
  ]
  const section = (title: string, entries: readonly Row[]): readonly string[] =>
    entries.length === 0 ? [] : ['', title, ...table(entries)]
  return [
    ...table(rows),
    ...section(
      'Tools',
      tools.map(
        ({ name: tool, description, effect, approval, inputSchema }): Row => [
          tool,
          [
            description,
            `${effect} · ${approval === 'ask' ? 'needs approval' : 'needs no approval'}${mark(tool.slice(name.length + 1))}`,
            ...(inputSchema ? [`input: ${JSON.stringify(inputSchema)}`] : []),
          ].join('\n'),
        ],
      ),
    ),
    ...section(
      'Seen in a session, and not accepted',
      pending.map(({ name: tool, description, inputSchema }): Row => {
        const input = inputSchema ? [`input: ${JSON.stringify(inputSchema)}`] : []
        return [tool === instructionsName ? tool : `${name}/${tool}`, [description, ...input].join('\n')]
      }),
    ),
    ...section(
      'Tools that cannot be offered',
      leftOut.map(({ name: tool = 'a tool without a name', reason }): Row => [tool, reason]),
    ),
    ...section(
      'Prompts',
      prompts.map(({ name: prompt, description = '' }): Row => [`${name}/${prompt}`, description]),
    ),
    ...section(
      'Resources',
      resources.map(({ uri, name: resource }): Row => [uri, resource]),
    ),
    ...(instructions === ''
      ? []
      : [
          '',
          `Instructions${mark(instructionsName)}`,
          ...shown(instructions)
            .split('\n')
            .map((line) => `  ${line}`),
        ]),
  ]
}
