import type { CallIntent, CallRecord, InteractionEvent, StreamEvent } from '../contracts/index.ts'
import { duration, price, reasonText, tokens } from './figures.ts'
import { fitWidth, type Paint, printable } from './paint.ts'

/** What is worth a line, or with `verbose` also what was handed to calls, what came back, and what each step has cost. */
export type PlainDetail = 'plain' | 'verbose'

/** Open calls of an agent, and where its retries stand. */
interface Known {
  readonly tools: Map<string, string>
  model: string | undefined
  attempt: number
  maxRetries: number
}

/** A run told in lines while it goes on. */
export class PlainProgress {
  readonly #paint: Paint
  readonly #detail: PlainDetail
  readonly #agents = new Map<string, Known>()

  constructor(paint: Paint, detail: PlainDetail = 'plain') {
    this.#paint = paint
    this.#detail = detail
  }

  /** The lines to show for this event, mostly none. */
  lines(event: StreamEvent): readonly string[] {
    const lines = this.#told(event, this.#known(event.agentPath))
    const names = event.agentPath.split('/').slice(1)
    if (lines.length === 0 || names.length === 0) return lines
    const who = this.#paint('dim', `${printable(names.join('/'))} │ `)
    return lines.map((line) => `${who}${line}`)
  }

  #told(event: StreamEvent, known: Known): readonly string[] {
    const paint = this.#paint
    switch (event.type) {
      case 'interaction.session.created':
      case 'interaction.session.configured':
        known.maxRetries = event.agent.limits.maxRetries
        return []
      case 'interaction.step.started':
        return this.#stepStarted(event, known)
      case 'interaction.step.completed':
        return this.#detail === 'verbose' ? [this.#spent(event)] : []
      case 'interaction.step.failed': {
        const { failure, delayMs } = event
        if (failure.class === 'cancelled') return []
        const wait = delayMs > 0 && known.attempt <= known.maxRetries ? `; next in ${duration(delayMs)}` : ''
        return [`  ${paint('yellow', `↻ ${failure.class}`)}: ${printable(failure.message)}${paint('dim', wait)}`]
      }
      case 'interaction.item.started':
        return event.item.kind === 'call' ? this.#callStarted(event.item, known) : []
      case 'interaction.item.completed':
        return event.item.kind === 'call' ? this.#callEnded(event.item, known) : []
      case 'interaction.item.delta':
        return event.kind === 'progress' ? [paint('dim', `    ${printable(event.text)}`)] : []
      case 'interaction.approval.requested':
        return [`  ${paint('yellow', '? approval needed')}: ${printable(event.request.summary)}`]
      case 'interaction.diagnostic':
        return [
          `${paint(event.diagnostic.severity === 'error' ? 'red' : 'yellow', event.diagnostic.code)}: ${printable(event.diagnostic.message)}`,
        ]
      // What follows is told by the tree in the end, or is nothing for people.
      case 'interaction.session.resumed':
      case 'interaction.session.idle':
      case 'interaction.input.accepted':
      case 'interaction.turn.started':
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted':
      case 'interaction.turn.suspended':
      case 'interaction.item.updated':
      case 'interaction.approval.resolved':
      case 'interaction.approval.revoked':
      case 'interaction.subagent.selected':
      case 'interaction.subagent.started':
      case 'interaction.subagent.completed':
      case 'interaction.subagent.failed':
      case 'interaction.hook.completed':
      case 'interaction.cancel.requested':
        return []
      default:
        return event satisfies never
    }
  }

  #known(agentPath: string): Known {
    const known = this.#agents.get(agentPath) ?? { tools: new Map(), model: undefined, attempt: 1, maxRetries: 0 }
    this.#agents.set(agentPath, known)
    return known
  }

  #stepStarted(event: InteractionEvent<'interaction.step.started'>, known: Known): readonly string[] {
    const paint = this.#paint
    known.attempt = event.attempt
    const isRetry = event.attempt > 1 && !event.last
    if (isRetry && this.#detail === 'plain') return []
    const why = event.last ? paint('yellow', ` · last answer forced: ${reasonText[event.last.reason]}`) : ''
    const model = event.model === known.model ? '' : ` ${paint('dim', printable(event.model))}`
    const attempt = isRetry ? paint('dim', ` · attempt ${event.attempt}`) : ''
    known.model = event.model
    return [`${paint('bold', `step ${numberOf(event.stepId)}`)}${model}${attempt}${why}`]
  }

  #spent({ usage, cost, latencyMs, finish }: InteractionEvent<'interaction.step.completed'>): string {
    const reasoning = usage.reasoning > 0 ? `${usage.reasoning} of them reasoning` : ''
    const cached = usage.cacheRead > 0 ? `${usage.cacheRead} from the cache` : ''
    const parts = [`${tokens(usage)} tokens`, reasoning, cached, price(cost), duration(latencyMs), finish]
    return this.#paint('dim', `  = ${parts.filter(Boolean).join(' · ')}`)
  }

  #callStarted({ id, tool, title, input }: CallIntent, known: Known): readonly string[] {
    const paint = this.#paint
    known.tools.set(id, tool)
    const line = `  ${paint('cyan', '→')} ${printable(tool)}${title === tool ? '' : paint('dim', ` · ${printable(title)}`)}`
    return this.#detail === 'verbose' ? [line, paint('dim', `    ${beginning(JSON.stringify(input))}`)] : [line]
  }

  #callEnded({ id, status, latencyMs, error, content }: CallRecord, known: Known): readonly string[] {
    const paint = this.#paint
    const tool = printable(known.tools.get(id) ?? id)
    known.tools.delete(id)
    const said = this.#detail === 'verbose' && content !== '' ? [paint('dim', `    ${beginning(content)}`)] : []
    if (status === 'completed') return [`  ${paint('green', '✓')} ${tool} ${paint('dim', duration(latencyMs))}`, ...said]
    const why = error ? `${error.class}: ${printable(error.message)}` : status
    return [`  ${paint('red', `✗ ${tool}`)} ${why} ${paint('dim', duration(latencyMs))}`, ...said]
  }
}

const mostShown = 200

/** As much of a text as fits on a line or two. */
function beginning(text: string): string {
  // A text may be huge, and white space shrinks: what is looked at has a bound, too.
  return fitWidth(printable(text.slice(0, 10 * mostShown)), mostShown).trimEnd()
}

/** `t1.s3` → `3`. */
function numberOf(stepId: string | undefined): string {
  return stepId?.split('.s').at(-1) ?? '?'
}
