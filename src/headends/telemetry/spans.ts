import { type Attributes, type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import type { InteractionEvent } from '../../contracts/index.ts'

// Spans from the journal, with the names of OpenTelemetry for generative AI: `invoke_agent` for a turn, `chat` for a model request,
// `execute_tool` for a call. The turn of a child is below the call that started it.
//
// 1. A span starts and ends at the times of its events.
// 2. What people and models write is recorded only with `content`.

export interface SpanOptions {
  readonly tracer: Tracer
  /** Record arguments and results of calls, and answers. */
  readonly content?: boolean
}

/** Turns of sessions that wait for a person stay open; the oldest are forgotten. */
const maxOpen = 20_000

type TurnEnd = InteractionEvent<'interaction.turn.completed' | 'interaction.turn.failed' | 'interaction.turn.interrupted'>

export class SessionSpans {
  readonly #tracer: Tracer
  readonly #content: boolean
  /** By session and id of turn, step or item: these ids are unique in their session only. */
  readonly #open = new Map<string, Span>()
  /** By session: its agent, and the call that started it. */
  readonly #sessions = new Map<string, { readonly agent: string; readonly parent: string | undefined }>()

  constructor({ tracer, content = false }: SpanOptions) {
    this.#tracer = tracer
    this.#content = content
  }

  observe(events: readonly InteractionEvent[]): void {
    for (const event of events) this.#note(event)
  }

  #note(event: InteractionEvent): void {
    switch (event.type) {
      case 'interaction.session.created':
        bounded(this.#sessions).set(event.sessionId, {
          agent: event.agent.name,
          parent: event.parent && keyOf(event.parent.sessionId, event.parent.itemId),
        })
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
          attributes: { ...usageAttributes(event.usage), 'gen_ai.response.finish_reasons': [event.finish] },
        })
        break
      case 'interaction.step.failed':
        this.#end(keyOf(event.sessionId, event.stepId), event, { attributes: usageAttributes(event.usage), failure: event.failure.class })
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

  #startStep({ sessionId, stepId, turnId, modelId, attempt, at }: InteractionEvent<'interaction.step.started'>): void {
    this.#start(
      keyOf(sessionId, stepId),
      { at },
      {
        name: `chat ${modelId}`,
        kind: SpanKind.CLIENT,
        attributes: {
          'gen_ai.operation.name': 'chat',
          'gen_ai.request.model': modelId,
          'gen_ai.provider.name': modelId.split('/')[0] ?? '',
          'troupe.attempt': attempt,
        },
        parent: keyOf(sessionId, turnId),
      },
    )
  }

  #startTurn(event: InteractionEvent<'interaction.turn.started'>): void {
    const session = this.#sessions.get(event.sessionId)
    this.#start(keyOf(event.sessionId, event.turnId), event, {
      name: `invoke_agent ${session?.agent ?? 'unknown'}`,
      kind: SpanKind.INTERNAL,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.agent.name': session?.agent ?? 'unknown',
        'gen_ai.conversation.id': event.sessionId,
        'troupe.session.id': event.treeId,
        'troupe.agent.path': event.agentPath,
      },
      parent: session?.parent,
    })
  }

  #endTurn(event: TurnEnd): void {
    const { ending, totals, report } = event
    this.#end(keyOf(event.sessionId, event.turnId), event, {
      attributes: {
        ...usageAttributes(totals.usage),
        'troupe.turn.status': ending.status,
        ...(totals.cost !== 'unknown' && { 'troupe.cost.usd': totals.cost }),
        ...(this.#content && report && { 'gen_ai.output.messages': report.text }),
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
      parent: keyOf(event.sessionId, event.turnId),
    })
  }

  #endCall({ item, ...event }: InteractionEvent<'interaction.item.completed'>): void {
    if (item.kind !== 'call') return
    this.#end(keyOf(event.sessionId, item.id), event, {
      attributes: this.#content ? { 'gen_ai.tool.call.result': item.content } : {},
      ...(item.status !== 'completed' && { failure: item.error?.class ?? item.status }),
    })
  }

  #start(
    id: string,
    { at }: { readonly at: number },
    {
      name,
      kind,
      attributes,
      parent,
    }: { readonly name: string; readonly kind: SpanKind; readonly attributes: Attributes; readonly parent: string | undefined },
  ): void {
    const above = parent === undefined ? undefined : this.#open.get(parent)
    const context: Context = above ? trace.setSpan(ROOT_CONTEXT, above) : ROOT_CONTEXT
    bounded(this.#open).set(id, this.#tracer.startSpan(name, { kind, attributes, startTime: at }, context))
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

const usageAttributes = ({ input, output }: { readonly input: number; readonly output: number }): Attributes => ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
})

function bounded<Value>(map: Map<string, Value>): Map<string, Value> {
  if (map.size >= maxOpen) {
    const [oldest] = map.keys()
    if (oldest !== undefined) map.delete(oldest)
  }
  return map
}
