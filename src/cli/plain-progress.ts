import type { CallRecord, StreamEvent } from '../contracts/index.ts'
import { duration, reasonText } from './figures.ts'
import { type Paint, printable } from './paint.ts'

/** What is worth a line while a run goes on. Remembers open calls and where retries stand, nothing else. */
export class PlainProgress {
  readonly #paint: Paint
  readonly #tools = new Map<string, string>()
  #model: string | undefined
  #attempt = 1
  #maxRetries = 0

  constructor(paint: Paint) {
    this.#paint = paint
  }

  /** The lines to show for this event, mostly none. */
  lines(event: StreamEvent): readonly string[] {
    const paint = this.#paint
    switch (event.type) {
      case 'interaction.session.created':
      case 'interaction.session.configured':
        this.#maxRetries = event.agent.limits.maxRetries
        return []
      case 'interaction.step.started': {
        this.#attempt = event.attempt
        if (event.attempt > 1 && !event.last) return []
        const why = event.last ? paint('yellow', ` · last answer forced: ${reasonText[event.last.reason]}`) : ''
        const model = event.model === this.#model ? '' : ` ${paint('dim', printable(event.model))}`
        this.#model = event.model
        return [`${paint('bold', `step ${numberOf(event.stepId)}`)}${model}${why}`]
      }
      case 'interaction.step.failed': {
        const { failure, delayMs } = event
        if (failure.class === 'cancelled') return []
        const wait = delayMs > 0 && this.#attempt <= this.#maxRetries ? `; next in ${duration(delayMs)}` : ''
        return [`  ${paint('yellow', `↻ ${failure.class}`)}: ${printable(failure.message)}${paint('dim', wait)}`]
      }
      case 'interaction.item.started': {
        if (event.item.kind !== 'call') return []
        const { id, tool, title } = event.item
        this.#tools.set(id, tool)
        return [`  ${paint('cyan', '→')} ${printable(tool)}${title === tool ? '' : paint('dim', ` · ${printable(title)}`)}`]
      }
      case 'interaction.item.completed':
        return event.item.kind === 'call' ? [this.#result(event.item)] : []
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
      case 'interaction.step.completed':
      case 'interaction.item.updated':
      case 'interaction.approval.resolved':
      case 'interaction.approval.revoked':
      case 'interaction.subagent.selected':
      case 'interaction.hook.completed':
      case 'interaction.cancel.requested':
        return []
      default:
        return event satisfies never
    }
  }

  #result({ id, status, latencyMs, error }: CallRecord): string {
    const paint = this.#paint
    const tool = printable(this.#tools.get(id) ?? id)
    this.#tools.delete(id)
    if (status === 'completed') return `  ${paint('green', '✓')} ${tool} ${paint('dim', duration(latencyMs))}`
    const why = error ? `${error.class}: ${printable(error.message)}` : status
    return `  ${paint('red', `✗ ${tool}`)} ${why} ${paint('dim', duration(latencyMs))}`
  }
}

/** `t1.s3` → `3`. */
function numberOf(stepId: string | undefined): string {
  return stepId?.split('.s').at(-1) ?? '?'
}
