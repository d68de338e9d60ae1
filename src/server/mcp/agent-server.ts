import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ElicitRequestFormParams,
  isInputRequiredResult,
  type McpRequestContext,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Clock } from '../../contracts/index.ts'
import { type Caller, hasScope, type Peer, toHttpError } from '../http/index.ts'
import { agentTools } from './agent-tools.ts'
import type { Asking } from './ask-person.ts'
import { callTool } from './call-tool.ts'
import type { McpDependencies } from './dependencies.ts'
import { jsonRpcErrors } from './json-rpc-errors.ts'
import { listResources, readResource, resourceTemplates } from './resources.ts'

const instructions =
  'Each tool is an agent that works on a task and returns its report. Tools can take minutes: send a progress token to see what happens.'

/** The client of one connection, or of one request. */
export interface ServedConnection {
  readonly era: McpRequestContext['era']
  readonly caller: Caller
  peerOf(context: ServerContext): Peer
  /** A request was cancelled: it gets no answer. */
  cancelled?(context: ServerContext): void
}

/** The agents of a caller as tools, and its sessions as resources. */
export function agentServer(dependencies: McpDependencies, connection: ServedConnection): Server {
  const { version, onAgentsChange } = dependencies
  const mayRead = hasScope(connection.caller, 'read')
  const server = new Server(
    { name: 'troupe', title: 'Troupe', version },
    {
      instructions,
      capabilities: { tools: { ...(onAgentsChange && { listChanged: true }) }, ...(mayRead && { resources: {} }) },
    },
  )
  server.setRequestHandler('tools/list', (_, context) => ({
    tools: agentTools(connection.peerOf(context).sessions.agents()).map(({ tool }) => tool),
  }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const peer = connection.peerOf(context)
    const tools = agentTools(peer.sessions.agents())
    const agentTool = tools.find(({ tool }) => tool.name === params.name)
    if (!agentTool)
      throw unknownTool(
        params.name,
        tools.map(({ tool }) => tool.name),
      )
    const signal = callSignal(context)
    const progress = progressOf(context, dependencies.clock)
    const result = await callTool({
      agentTool,
      arguments: params.arguments ?? {},
      state: context.mcpReq.requestState<string>(),
      responses: context.mcpReq.inputResponses,
      peer,
      dependencies,
      asking: askingOf(server, { connection, context, peer }),
      progress: progress?.report,
      signal,
    })
    // A client forgets the token with the result.
    await progress?.sent()
    if (signal.aborted) connection.cancelled?.(context)
    if (isInputRequiredResult(result) || result.isError) return result
    return server.projectCallToolResult(result, agentTool.tool.outputSchema)
  })
  if (mayRead) {
    const shown = async <Result>(context: ServerContext, read: (peer: Peer) => Promise<Result>): Promise<Result> => {
      const peer = connection.peerOf(context)
      return read(peer).catch((error: unknown) => {
        throw protocolError(error, peer, dependencies)
      })
    }
    server.setRequestHandler('resources/list', ({ params }, context) => shown(context, (peer) => listResources(peer, params?.cursor)))
    server.setRequestHandler('resources/templates/list', () => resourceTemplates)
    server.setRequestHandler('resources/read', ({ params }, context) => shown(context, (peer) => readResource(peer, params.uri)))
  }
  return server
}

/** As the caller may see it. */
function protocolError(thrown: unknown, peer: Peer, { onError }: McpDependencies): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown
  const { code, message, data } = peer.shown(jsonRpcErrors(toHttpError(thrown, onError), '')).error
  return new ProtocolError(code, message, data)
}

/** Aborted by a cancellation, and when the client closes the request. */
function callSignal({ mcpReq, http }: ServerContext): AbortSignal {
  const closed = http?.req?.signal
  return closed ? AbortSignal.any([mcpReq.signal, closed]) : mcpReq.signal
}

function unknownTool(name: string, names: readonly string[]): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool "${name}". Use one of: ${names.join(', ') || 'none'}.`)
}

/** A person may think for a day. */
const answerMs = 86_400_000

interface AskingPlace {
  readonly connection: ServedConnection
  readonly context: ServerContext
  readonly peer: Peer
}

function askingOf(server: Server, { connection, context, peer }: AskingPlace): Asking {
  if (!hasScope(peer.caller, 'approve')) return { kind: 'none', why: 'This token lacks the scope "approve".' }
  const isModern = connection.era === 'modern'
  const capabilities = isModern
    ? ((context.mcpReq.envelope as { readonly [key: string]: unknown } | undefined)?.[CLIENT_CAPABILITIES_META_KEY] as
        | ClientCapabilities
        | undefined)
    : server.getClientCapabilities()
  if (!canShowForms(capabilities)) return { kind: 'none', why: 'This client cannot ask (it has no form elicitation).' }
  if (isModern) return { kind: 'return' }
  return {
    kind: 'request',
    elicit: (form: ElicitRequestFormParams, signal) =>
      context.mcpReq.send({ method: 'elicitation/create', params: { ...form } }, { signal, timeout: answerMs }),
  }
}

/** Without a mode, forms are meant. */
function canShowForms(capabilities: ClientCapabilities | undefined): boolean {
  const elicitation = capabilities?.elicitation
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined)
}

/** In a second. More would only fill the stream of a client that reads slowly. */
const maxProgress = 20

interface ProgressReports {
  report(message: string): void
  sent(): Promise<unknown>
}

function progressOf({ mcpReq }: ServerContext, clock: Pick<Clock, 'monotonic'>): ProgressReports | undefined {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return undefined
  let [progress, second, sent] = [0, 0, 0]
  let last: Promise<unknown> = Promise.resolve()
  return {
    sent: () => last,
    report(message) {
      const now = Math.floor(clock.monotonic() / 1_000)
      if (now !== second) [second, sent] = [now, 0]
      if (++sent > maxProgress) return
      progress++
      const params = { progressToken, progress, message: message.slice(0, 500) }
      last = mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
    },
  }
}
