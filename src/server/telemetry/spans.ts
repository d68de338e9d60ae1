import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Envelope, InteractionEvent, JsonObject, TraceContext } from '../../contracts/index.ts'
import type { ContinuedSession, RuntimeObserver } from '../../runtime/index.ts'
import { costAttribute, modelNames, outputMessages, usageAttributes } from './gen-ai-names.ts'

// Spans from the journal, with the names of OpenTelemetry for generative AI: `invoke_agent` for a turn, `chat` for a model request,
// `execute_tool` for a call. The turn of a child is below the call that started it, the turn of a request with a trace in that trace.
//
// 1. A span starts and ends at the times of its events.
// 2. What people and models write is recorded only with `content`.
// 3. The trace of a request reaches the turn that its own input begins, and nothing else.

interface SpanOptions {
  readonly tracer: Tracer
  /** Record arguments and results of calls, and answers. */
  readonly content?: boolean
}

/** Turns of sessions that wait for a person stay open; the oldest are forgotten. */
const maxOpen = 20_000

interface SessionNames {
  readonly agent: string
  /** The call that started it. */
  readonly parent: string | undefined
  /** Who owns it. */
  readonly user: string | undefined
}

interface NewSpan {
  readonly name: string
  readonly kind: SpanKind
  readonly attributes: Attributes
  readonly parent: Context
}

/** An event of a turn; the first one has its inputs. */
type Turn = Envelope & { readonly inputs?: readonly string[] }
type TurnEnd = InteractionEvent<'interaction.turn.completed' | 'interaction.turn.failed' | 'interaction.turn.interrupted'>

export class SessionSpans implements RuntimeObserver {
  readonly #tracer: Tracer
  readonly #content: boolean
  /** By session and id of turn, step or item: these ids are unique in their session only. */
  readonly #open = new Map<string, Span>()
  readonly #sessions = new Map<string, SessionNames>()
  /** Traces of inputs whose turn has not begun, by session and client id. */
  readonly #traces = new Map<string, TraceContext>()

  constructor({ tracer, content = false }: SpanOptions) {
    this.#tracer = tracer
    this.#content = content
  }

  stored(event: InteractionEvent): void {
    switch (event.type) {
      case 'interaction.session.created':
        this.continued({ ...event, agent: event.agent.name })
        break
      case 'interaction.input.accepted':
        if (event.traceContext) bounded(this.#traces).set(keyOf(event.sessionId, event.clientId), event.traceContext)
        break
      case 'interaction.turn.started':
        this.#startTurn(event)
        break
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted':
        this.#endTurn(event)
        break
      case 'interaction.step.started':
        this.#startStep(event)
        break
      case 'interaction.step.completed':
        this.#end(keyOf(event.sessionId, event.stepId), event, {
          attributes: {
            ...usageAttributes(event.usage),
            ...costAttribute(event.cost),
            'gen_ai.response.finish_reasons': [event.finish],
            ...responseAttributes(event.metadata),
          },
        })
        break
      case 'interaction.step.failed':
        this.#end(keyOf(event.sessionId, event.stepId), event, {
          attributes: { ...usageAttributes(event.usage), ...costAttribute(event.cost) },
          failure: event.failure.class,
        })
        break
      case 'interaction.item.started':
        this.#startCall(event)
        break
      case 'interaction.item.completed':
        this.#endCall(event)
        break
      default:
    }
  }

  /** The agent and the owner of a session. */
  continued({ sessionId, agent, parent, principal }: ContinuedSession): void {
    const user = principal?.id ?? (parent && this.#sessions.get(parent.sessionId)?.user)
    bounded(this.#sessions).set(sessionId, { agent, parent: parent && keyOf(parent.sessionId, parent.itemId), user })
  }

  #startStep(event: InteractionEvent<'interaction.step.started'>): void {
    const { sessionId, stepId, modelId, attempt } = event
    const { provider, model } = modelNames(modelId)
    this.#start(keyOf(sessionId, stepId), event, {
      name: `chat ${model}`,
      kind: SpanKind.CLIENT,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': model,
        'gen_ai.provider.name': provider,
        'troupe.attempt': attempt,
      },
      parent: this.#inTurn(event),
    })
  }

  #startTurn(event: Turn): void {
    const session = this.#sessions.get(event.sessionId)
    this.#start(keyOf(event.sessionId, event.turnId), event, {
      name: `invoke_agent ${session?.agent ?? 'unknown'}`,
      kind: SpanKind.INTERNAL,
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'troupe.agent.path': event.agentPath },
      parent: session?.parent === undefined ? this.#requested(event) : this.#below(session.parent),
    })
  }

  /** The trace of the request that began the turn. */
  #requested({ sessionId, inputs = [] }: Turn): Context {
    const keys = inputs.map((clientId) => keyOf(sessionId, clientId))
    const found = keys.map((key) => this.#traces.get(key)).find((each) => each !== undefined)
    for (const key of keys) this.#traces.delete(key)
    return found ? remote(found) : ROOT_CONTEXT
  }

  /** A turn that a restart interrupted goes on in a span of its own: its first one ended with the process. */
  #inTurn(event: Turn): Context {
    const id = keyOf(event.sessionId, event.turnId)
    if (!this.#open.has(id)) this.#startTurn(event)
    return this.#below(id)
  }

  #below(id: string): Context {
    const above = this.#open.get(id)
    return above ? trace.setSpan(ROOT_CONTEXT, above) : ROOT_CONTEXT
  }

  #endTurn(event: TurnEnd): void {
    const { ending, totals, report } = event
    this.#end(keyOf(event.sessionId, event.turnId), event, {
      attributes: {
        ...usageAttributes(totals.usage),
        'troupe.turn.status': ending.status,
        ...(totals.cost !== 'unknown' && { 'troupe.cost.usd': totals.cost }),
        ...(this.#content && report && { 'gen_ai.output.messages': outputMessages(report.text) }),
      },
      ...(ending.status === 'failed' && { failure: ending.reason }),
    })
  }

  #startCall({ item, ...event }: InteractionEvent<'interaction.item.started'>): void {
    if (item.kind !== 'call') return
    this.#start(keyOf(event.sessionId, item.id), event, {
      name: `execute_tool ${item.tool}`,
      kind: SpanKind.INTERNAL,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': item.tool,
        'gen_ai.tool.call.id': item.id,
        ...(this.#content && { 'gen_ai.tool.call.arguments': JSON.stringify(item.input) }),
      },
      parent: this.#inTurn(event),
    })
  }

  #endCall({ item, ...event }: InteractionEvent<'interaction.item.completed'>): void {
    if (item.kind !== 'call') return
    this.#end(keyOf(event.sessionId, item.id), event, {
      attributes: this.#content ? { 'gen_ai.tool.call.result': item.content } : {},
      ...(item.status !== 'completed' && { failure: item.error?.class ?? item.status }),
    })
  }

  /** Every span names its agent, session and user: readers group by them, and not all follow the tree. */
  #start(id: string, { at, sessionId, treeId }: Pick<InteractionEvent, 'at' | 'sessionId' | 'treeId'>, span: NewSpan): void {
    const { name, kind, parent } = span
    const { agent = 'unknown', user } = this.#sessions.get(sessionId) ?? {}
    const attributes = {
      ...span.attributes,
      'gen_ai.agent.name': agent,
      'gen_ai.conversation.id': sessionId,
      'session.id': treeId,
      ...(user !== undefined && { 'user.id': user }),
    }
    bounded(this.#open).set(id, this.#tracer.startSpan(name, { kind, attributes, startTime: at }, parent))
  }

  #end(
    id: string,
    { at }: { readonly at: number },
    { attributes, failure }: { readonly attributes: Attributes; readonly failure?: string },
  ): void {
    const span = this.#open.get(id)
    if (!span) return
    this.#open.delete(id)
    span.setAttributes(failure === undefined ? attributes : { ...attributes, 'error.type': failure })
    if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure })
    span.end(at)
  }
}

const keyOf = (sessionId: string, id = ''): string => `${sessionId}/${id}`

function remote({ traceparent, tracestate }: TraceContext): Context {
  const [, traceId = '', spanId = '', flags = '00'] = traceparent.split('-')
  const state = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true, ...state })
}

/** Adapters record them where the provider says them. */
const responseAttributes = ({ model, responseId }: JsonObject = {}): Attributes => ({
  ...(typeof model === 'string' && { 'gen_ai.response.model': model }),
  ...(typeof responseId === 'string' && { 'gen_ai.response.id': responseId }),
})

function bounded<Value>(map: Map<string, Value>): Map<string, Value> {
  if (map.size >= maxOpen) {
    const [oldest] = map.keys()
    if (oldest !== undefined) map.delete(oldest)
  }
  return map
}
