import { type AgentDescription, TroupeError } from '../../../contracts/index.ts'
import { systemClock } from '../../../runtime/index.ts'
import type { ChatInvocation } from '../../arguments/chat-invocation.ts'
import { processTerminal } from '../../progress/terminal.ts'
import { columns } from '../../terminal/columns.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import type { Interruption } from '../../terminal/interruption.ts'
import { printNotice, printWarning, withColour } from '../../terminal/print-messages.ts'
import { printable } from '../../terminal/printable.ts'
import type { Host } from '../../terminal/process-host.ts'
import { nextLine } from '../../terminal/read-line.ts'
import { mayAsk } from '../trust/trust-question.ts'
import type { ChatOptions } from './chat-options.ts'
import type { ChatService } from './chat-service.ts'
import { agentNamed, isOf, namesFile } from './conversation.ts'

/** `troupe chat`: a conversation until the person leaves. */
export async function chatCommand(invocation: ChatInvocation, given: Host, interruption: Interruption): Promise<number> {
  const { display, isPlain } = invocation
  const host = withColour(given, isPlain ? { color: 'never' } : display)
  const isPerson = mayAsk(host)
  const draws = isPerson && !isPlain && host.window === 'terminal' && host.stdout.columns !== undefined
  const service = await interruption.before(openService(invocation, host, isPerson))
  try {
    for (const warning of service.warnings) await printWarning(warning, { host, display })
    for (const notice of service.notices) await printNotice(notice, { host, display })
    const options = await interruption.before(beginning(service, invocation, { host, isPerson }))
    interruption.handOver()
    const { code, sessionId } = draws ? await drawn(options, host) : await printed(options, { host, invocation, isPerson })
    if (sessionId !== undefined && (isPerson || code !== exitCodes.done.code))
      await printNotice(`Continue: ${service.continueCommand(sessionId)}`, { host, display })
    return code
  } finally {
    await service.close()
  }
}

interface Ended {
  readonly code: number
  readonly sessionId: string | undefined
}

async function openService(invocation: ChatInvocation, host: Host, isPerson: boolean): Promise<ChatService> {
  const { connect } = invocation
  if (connect !== undefined) return (await import('./rest-sessions.ts')).openRestSessions({ ...invocation, connect }, host)
  return (await import('./local-sessions.ts')).openLocalSessions(invocation, host, isPerson)
}

async function drawn(options: ChatOptions, host: Host): Promise<Ended> {
  const { TerminalChat } = await import('./terminal-chat.ts')
  const chat = new TerminalChat({ ...options, host, clock: systemClock, terminal: processTerminal() })
  const end = await chat.run()
  return { code: end === undefined ? exitCodes.done.code : exitCodes[end].code, sessionId: chat.conversation.sessionId }
}

interface Printing {
  readonly host: Host
  readonly invocation: ChatInvocation
  readonly isPerson: boolean
}

async function printed(options: ChatOptions, { host, invocation: { display }, isPerson }: Printing): Promise<Ended> {
  const { LineChat } = await import('./line-chat.ts')
  const chat = new LineChat({ ...options, host, display, isPerson })
  const code = await chat.run()
  return { code, sessionId: chat.conversation.sessionId }
}

async function beginning(
  service: ChatService,
  invocation: ChatInvocation,
  place: Pick<Printing, 'host' | 'isPerson'>,
): Promise<ChatOptions> {
  const { models, resume, continues } = invocation
  const agents = service.sessions.agents()
  const isFile = invocation.connect === undefined && namesFile(invocation.agent)
  const [first] = agents
  const named = isFile ? first : invocation.agent === undefined ? undefined : agentNamed(invocation.agent, agents)
  const opens = resume ?? (continues ? await lastSession(service, named) : undefined)
  // One that cannot be continued is reported before anything is drawn.
  const opened = opens === undefined ? undefined : await service.open(opens)
  if (opened && named && !isOf(opened, named))
    throw new TroupeError('usage', `Session ${opened.sessionId} is one of ${opened.agent}, not of ${named.name}.`, {
      remedy: `Continue it: ${service.continueCommand(opened.sessionId)}`,
    })
  // A session has its agent.
  const agent = named ?? (opened ? first : agentNamed(undefined, agents)) ?? (await chooseAgent(agents, place))
  const [model] = models
  if (model !== undefined) await service.checkModel(model, agent)
  return { service, agent, model, opens }
}

/** Of the named agent, if there is one. */
async function lastSession(service: ChatService, named: AgentDescription | undefined): Promise<string> {
  const recent = await service.recent(named ? searched : 1)
  const last = recent.find((session) => !named || isOf(session, named))
  if (last) return last.sessionId
  throw new TroupeError('usage', `There is no session${named ? ` of ${named.name}` : ''} in this folder yet.`, {
    remedy: 'Start one without --continue.',
  })
}

const searched = 200

/** A person chooses; a program has to name one. */
async function chooseAgent(
  agents: readonly AgentDescription[],
  { host, isPerson }: Pick<Printing, 'host' | 'isPerson'>,
): Promise<AgentDescription> {
  const names = agents.map(({ name }) => name)
  const wrong = (): TroupeError =>
    new TroupeError('usage', names.length === 0 ? 'There is no agent here.' : `There are ${names.length} agents: ${names.join(', ')}.`, {
      remedy: names.length === 0 ? 'Create one: troupe init' : 'Name one: troupe chat AGENT',
    })
  if (!isPerson || names.length === 0) throw wrong()
  const rows = agents.map(({ name, description }, index) => [`${index + 1}  ${name}`, printable(description)] as const)
  await host.stderr.lines(['Which agent?', ...columns(rows, { maxWidth: host.width - 1 })])
  for (;;) {
    await host.stderr.write('> ')
    const line = await nextLine(host.stdin)
    if (line.kind !== 'line') throw wrong()
    const typed = line.text.trim()
    const chosen = agents[Number(typed) - 1] ?? agents.find(({ name }) => name === typed)
    if (chosen) return chosen
    await host.stderr.lines([`Type a number from 1 to ${agents.length}, or a name.`])
  }
}
