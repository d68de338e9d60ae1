import type { CallIntent, CallRecord, InteractionEvent, SessionId, StreamEvent } from '../../contracts/index.ts'
import { duration, price, reasonText, tokens } from '../figures.ts'
import { fitWidth, type Paint, printable } from '../paint.ts'
import { applyToTree, emptyTree, type SessionNodes } from '../tree/run-tree.ts'

/** What is worth a line, or with `verbose` also what was handed to calls, what came back, and what each step has cost. */
type PlainDetail = 'plain' | 'verbose'

/** A run told in lines while it goes on. Lines of a child begin with what it is called as a tool. */
export class PlainProgress {
  readonly #paint: Paint
  readonly #detail: PlainDetail
  readonly #tree = emptyTree()
  /** The model that was named last, by session: it is named only where it changes. */
  readonly #named = new Map<SessionId, string>()

  constructor(paint: Paint, detail: PlainDetail = 'plain') {
    this.#paint = paint
    this.#detail = detail
  }

  /** The lines to show for this event, mostly none. */
  lines(event: StreamEvent): readonly string[] {
    const nodes = applyToTree(this.#tree, event)
    const lines = this.#told(event, nodes)
    const { label } = nodes.agent
    if (lines.length === 0 || label === '') return lines
    const who = this.#paint('dim', `${printable(label)} │ `)
    return lines.map((line) => `${who}${line}`)
  }

  #told(event: StreamEvent, nodes: SessionNodes): readonly string[] {
    const paint = this.#paint
    switch (event.type) {
      case 'interaction.session.created':
        // The run itself is named by whoever has started it.
        return this.#detail === 'verbose' && event.parent ? [paint('dim', `run ${printable(event.sessionId)}`)] : []
      case 'interaction.step.started':
        return this.#stepStarted(event)
      case 'interaction.step.completed':
        return this.#detail === 'verbose' ? [this.#spent(event)] : []
      case 'interaction.step.failed':
        return this.#stepFailed(event, nodes)
      case 'interaction.item.started':
        return event.item.kind === 'call' ? this.#callStarted(event.item, nodes) : []
      case 'interaction.item.completed':
        return event.item.kind === 'call' ? this.#callEnded(event.item, nodes) : []
      case 'interaction.item.delta':
        return event.kind === 'progress' ? [paint('dim', `    ${printable(event.text)}`)] : []
      case 'interaction.approval.requested':
        return [`  ${paint('yellow', '? approval needed')}: ${printable(event.request.summary)}`]
      case 'interaction.diagnostic':
        return [
          `${paint(event.diagnostic.severity === 'error' ? 'red' : 'yellow', event.diagnostic.code)}: ${printable(event.diagnostic.message)}`,
        ]
      // What follows is told by the tree in the end, or is nothing for people.
      case 'interaction.session.configured':
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
      case 'interaction.context.added':
      case 'interaction.context.compacted':
      case 'interaction.cancel.requested':
        return []
      default:
        return event satisfies never
    }
  }

  #stepStarted(event: InteractionEvent<'interaction.step.started'>): readonly string[] {
    const paint = this.#paint
    const isRetry = event.attempt > 1 && !event.last
    if (isRetry && this.#detail === 'plain') return []
    const why = event.last ? paint('yellow', ` · last answer forced: ${reasonText[event.last.reason]}`) : ''
    const model = event.model === this.#named.get(event.sessionId) ? '' : ` ${paint('dim', printable(event.model))}`
    const attempt = isRetry ? paint('dim', ` · attempt ${event.attempt}`) : ''
    this.#named.set(event.sessionId, event.model)
    return [`${paint('bold', `step ${numberOf(event.stepId)}`)}${model}${attempt}${why}`]
  }

  #stepFailed({ stepId, failure, delayMs }: InteractionEvent<'interaction.step.failed'>, { steps }: SessionNodes): readonly string[] {
    const paint = this.#paint
    if (failure.class === 'cancelled') return []
    const isTriedAgain = steps.get(stepId ?? '')?.attempts.at(-1)?.nextAt !== undefined
    const wait = isTriedAgain ? `; next in ${duration(delayMs)}` : ''
    return [`  ${paint('yellow', `↻ ${failure.class}`)}: ${printable(failure.message)}${paint('dim', wait)}`]
  }

  #spent({ usage, cost, latencyMs, finish }: InteractionEvent<'interaction.step.completed'>): string {
    const reasoning = usage.reasoning > 0 ? `${usage.reasoning} of them reasoning` : ''
    const cached = usage.cacheRead > 0 ? `${usage.cacheRead} from the cache` : ''
    const parts = [`${tokens(usage)} tokens`, reasoning, cached, price(cost), duration(latencyMs), finish]
    return this.#paint('dim', `  = ${parts.filter(Boolean).join(' · ')}`)
  }

  #callStarted({ id, tool, title, input }: CallIntent, { calls }: SessionNodes): readonly string[] {
    const paint = this.#paint
    const name = calls.get(id)?.name ?? printable(tool)
    const line = `  ${paint('cyan', '→')} ${name}${title === tool ? '' : paint('dim', ` · ${printable(title)}`)}`
    return this.#detail === 'verbose' ? [line, paint('dim', `    ${beginning(JSON.stringify(input))}`)] : [line]
  }

  #callEnded({ id, status, latencyMs, error, content }: CallRecord, { calls }: SessionNodes): readonly string[] {
    const paint = this.#paint
    const tool = calls.get(id)?.name ?? printable(id)
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
