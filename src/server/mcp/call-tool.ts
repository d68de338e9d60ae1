import type { CallToolResult, InputRequiredResult } from '@modelcontextprotocol/server'
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type { ApprovalRequest, Outcome } from '../../contracts/index.ts'
import {
  approvalRequired,
  errorText,
  type HttpError,
  isSpoken,
  type OpenStream,
  type Peer,
  renewalOf,
  requireAnswer,
  toHttpError,
  waitsForClient,
} from '../http/index.ts'
import { type AgentArguments, type AgentTool, ownSchema, readArguments } from './agent-tools.ts'
import { type AskContext, type Asking, acceptResponses, askByResult, askWhileOpen, followedOf } from './ask-person.ts'
import type { McpDependencies } from './dependencies.ts'
import { type Followed, followUntilRest } from './follow-session.ts'

// A tool call is a new session of its caller.
//
// 1. A call that is cancelled, or whose client leaves, interrupts its session.
// 2. A call that waits for a person holds no place of a turn. While it asks, it needs one of a stream.
// 3. A session that waits when its call ends can be answered elsewhere, and then continues.

interface ToolCall {
  readonly agentTool: AgentTool
  readonly arguments: { readonly [name: string]: unknown }
  /** Present in a call that a client repeats with answers. */
  readonly state?: string | undefined
  readonly responses?: { readonly [key: string]: unknown } | undefined
  readonly peer: Peer
  readonly dependencies: McpDependencies
  readonly asking: Asking
  readonly progress: ((message: string) => void) | undefined
  readonly signal: AbortSignal
}

export async function callTool(call: ToolCall): Promise<CallToolResult | InputRequiredResult> {
  try {
    return await (call.state === undefined ? begin(call) : continueCall(call, call.state))
  } catch (thrown) {
    if (thrown instanceof ProtocolError) throw thrown
    return call.peer.shown(errorResult(toHttpError(thrown, call.dependencies.onError)))
  }
}

async function begin(call: ToolCall): Promise<CallToolResult | InputRequiredResult> {
  const { agentTool, peer, dependencies, signal } = call
  const { input, output }: AgentArguments = await readArguments(agentTool, call.arguments, dependencies.validator)
  const place = await peer.admit(agentTool.agent.name, signal)
  try {
    const sessionId = await peer.sessions.start(input, { agent: agentTool.agent.name, ...(output && { output }) })
    peer.concerns(sessionId)
    return await finish(call, { sessionId, seq: 0 }, place)
  } finally {
    place.release()
  }
}

async function continueCall(call: ToolCall, state: string): Promise<CallToolResult | InputRequiredResult> {
  const { agentTool, peer, signal } = call
  const followed = followedOf(state)
  const entry = followed && (await peer.sessions.get(followed.sessionId))
  if (!entry || entry.owner !== peer.caller.principal.id)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState', { reason: 'invalid_request_state' })
  peer.concerns(followed.sessionId)
  const requests = await peer.sessions.requests(followed.sessionId)
  if (requests.length > 0 && call.asking.kind === 'none') return waitingResult(call.asking.why, followed, requests)
  const { open, isDismissed } = await acceptResponses(askContext(call, followed), requests, call.responses)
  if (isDismissed) return waitingResult(whyNot(call.asking), followed, open)
  if (open.length > 0) return askByResult(followed, open)
  const place = await peer.admit(agentTool.agent.name, signal)
  try {
    return await finish(call, followed, place)
  } finally {
    place.release()
  }
}

const askContext = ({ peer, dependencies, signal }: ToolCall, followed: Followed): AskContext => ({ peer, dependencies, followed, signal })

async function finish(call: ToolCall, followed: Followed, firstPlace: { release(): void }): Promise<CallToolResult | InputRequiredResult> {
  const { peer, signal, agentTool } = call
  const { sessionId } = followed
  const interrupt = (): void => void peer.sessions.cancel(sessionId, 'interrupt').catch(() => {})
  if (signal.aborted) interrupt()
  signal.addEventListener('abort', interrupt)
  let place = firstPlace
  try {
    for (;;) {
      const rest = await followUntilRest(peer.sessions, followed, call.progress)
      if (rest === 'ended') return await answer(call, await peer.sessions.outcome(sessionId))
      const requests = await peer.sessions.requests(sessionId)
      if (rest !== 'asks' && requests.length === 0) return await answerOrWait(call, followed)
      // Somebody answered meanwhile.
      if (requests.length === 0) continue
      place.release()
      if (call.asking.kind === 'return') return askByResult(followed, requests)
      const unanswered = await whyUnanswered(call, followed, requests)
      if (unanswered !== undefined) return waitingResult(unanswered, followed, await peer.sessions.requests(sessionId))
      place = await peer.admit(agentTool.agent.name, signal)
    }
  } finally {
    place.release()
    signal.removeEventListener('abort', interrupt)
  }
}

/** `undefined`: somebody has answered. */
async function whyUnanswered(call: ToolCall, followed: Followed, requests: readonly ApprovalRequest[]): Promise<string | undefined> {
  const { peer, asking } = call
  if (asking.kind !== 'request') return whyNot(asking)
  const ended = new AbortController()
  const end = (): void => ended.abort()
  let place: OpenStream | undefined
  try {
    place = peer.openStream({ isCounted: true, end, cut: end })
    const signal = AbortSignal.any([call.signal, ended.signal])
    return (await askWhileOpen({ ...askContext(call, followed), signal }, requests, asking.elicit)) ? undefined : whyNot(asking)
  } catch (error) {
    // There is no place.
    return errorText(toHttpError(error))
  } finally {
    place?.close()
  }
}

const whyNot = (asking: Asking): string => (asking.kind === 'none' ? asking.why : 'Nobody decided.')

async function answer({ agentTool, peer }: ToolCall, outcome: Outcome): Promise<CallToolResult> {
  const { report, status, reason } = await requireAnswer(peer.sessions, outcome)
  const isStructured = report.value !== undefined && (report.format === 'json' || ownSchema(agentTool.agent) !== undefined)
  return {
    content: [
      { type: 'text', text: report.text },
      ...(status === 'partial' ? [{ type: 'text' as const, text: `This answer is partial: ${reason ?? 'a limit was reached'}.` }] : []),
    ],
    ...(isStructured && { structuredContent: report.value as NonNullable<CallToolResult['structuredContent']> }),
    _meta: { sessionId: outcome.sessionId },
  }
}

/** Nobody works. A child that talks to the person has answered; another one waits for input. */
async function answerOrWait(call: ToolCall, followed: Followed): Promise<CallToolResult> {
  const outcome = await call.peer.sessions.outcome(followed.sessionId)
  if (outcome.reason === 'client') return errorResult(waitsForClient(followed.sessionId))
  return isSpoken(outcome) ? answer(call, outcome) : waitingResult(whyNot(call.asking), followed, [])
}

function waitingResult(why: string, { sessionId }: Followed, requests: readonly ApprovalRequest[]): CallToolResult {
  const error = approvalRequired(sessionId, requests)
  const later = `Session: ${sessionId}. Its answer will be in the resource session://${sessionId}.`
  const { content, ...rest } = errorResult(error)
  return { ...rest, content: [...content, { type: 'text', text: `Needs approval. ${why}\n${later}` }] }
}

function errorResult({ code, message, options }: HttpError): CallToolResult & { readonly isError: true } {
  const { remedy, sessionId, details } = options
  return {
    isError: true,
    content: [{ type: 'text', text: remedy === undefined ? message : `${message}\n${remedy}` }],
    _meta: { code, ...(sessionId !== undefined && { sessionId }), ...renewalOf(options, 'renewsAt'), ...details },
  }
}
