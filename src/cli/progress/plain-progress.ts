import type {
  ApprovalId,
  CallIntent,
  CallRecord,
  Diagnostic,
  InteractionEvent,
  Plan,
  QueueEvent,
  SessionId,
  StreamEvent,
} from '../../contracts/index.ts'
import {
  applyEvent,
  applyPast,
  changesOf,
  emptyTree,
  exitCodeOf,
  lastStep,
  lastTurn,
  requestSummary,
  type SessionNodes,
} from '../../view/index.ts'
import { exactLine, exactLines } from '../terminal/exact-text.ts'
import { duration, price, reasonText, tokens } from '../terminal/format-numbers.ts'
import { fitWidth, type Paint, printable } from '../terminal/paint.ts'
import { failedCommandMark, quoted } from '../tree/call-row.ts'
import { atTheTerminal, changeText, decidedText, isFailedExit, isUnasked, outsideText, permitText } from '../tree/call-texts.ts'
import { hookDetails, hookText, problemText, rejectedLabel } from '../tree/hook-rows.ts'
import { compactionText, failureText, needText, outputLines, planLines, planText, queueText } from '../tree/leaf-rows.ts'
import { modelText } from '../tree/model-text.ts'
import { replyLines } from './text-lines.ts'

/** What is worth a line, or with `verbose` also what was handed to calls, what came back, and what each step has cost. */
type PlainDetail = 'plain' | 'verbose'

/** Where a person is told what is asked: in a line here, or by whoever asks. */
export type Questions = 'here' | 'elsewhere'

/** A run told in lines while it goes on. Lines of a child begin with what it is called as a tool. */
export class PlainProgress {
  readonly #paint: Paint
  readonly #detail: PlainDetail
  readonly #questions: Questions
  /** What is asked elsewhere, by its id: where somebody else answers it may not have been shown at all. */
  readonly #untold = new Map<ApprovalId, string>()
  readonly #tree = emptyTree()
  /** The model that was named last, by session: it is named only where it changes. */
  readonly #named = new Map<SessionId, string>()

  constructor(paint: Paint, detail: PlainDetail = 'plain', questions: Questions = 'here') {
    this.#paint = paint
    this.#detail = detail
    this.#questions = questions
  }

  /** What had happened before: it is known, and not told again. */
  recall(past: readonly InteractionEvent[]): void {
    applyPast(this.#tree, past)
  }

  /** The lines to show for this event, mostly none. */
  lines(event: StreamEvent): readonly string[] {
    const { session: nodes } = applyEvent(this.#tree, event)
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
        return [...this.#refused(nodes, 'sent back'), ...this.#stepStarted(event)]
      case 'interaction.step.completed':
        return [...this.#said(event, nodes), ...(this.#detail === 'verbose' ? [this.#spent(event)] : [])]
      case 'interaction.step.failed':
        return this.#stepFailed(event, nodes)
      case 'interaction.item.started':
        if (event.item.kind === 'plan') return this.#planned(event.item.plan)
        return event.item.kind === 'call' ? this.#callStarted(event.item, nodes) : []
      case 'interaction.item.updated':
        return event.update.kind === 'plan' ? this.#planned(event.update.plan) : this.#triedAgain(event, nodes)
      case 'interaction.item.completed':
        return event.item.kind === 'call' ? this.#callEnded(event.item, nodes) : []
      case 'interaction.item.delta':
        return event.kind === 'progress' ? [paint('dim', `    ${printable(event.text)}`)] : []
      case 'interaction.queue.joined':
        return [this.#inLine(event, nodes)]
      case 'interaction.approval.requested':
        return this.#asked(event)
      case 'interaction.approval.resolved':
        return [...this.#answered(event), paint('dim', `    ${resolvedText(event)}`)]
      case 'interaction.context.compacted':
        return [`  ${paint('cyan', '⇣')} history compacted: ${compactionText(event)}`]
      case 'interaction.context.added':
        // What a hook adds is told with the hook.
        return this.#detail === 'verbose' && !event.source.startsWith('hook ') ? [paint('dim', `context ${printable(event.source)}`)] : []
      case 'interaction.turn.failed':
        return this.#refused(nodes, 'refused')
      case 'interaction.hook.completed':
        return this.#hooked(event, nodes)
      case 'interaction.diagnostic':
        return [this.#note(event.diagnostic)]
      case 'interaction.session.resumed':
        return event.diagnostics.map((diagnostic) => this.#note(diagnostic))
      // What follows is told by the tree in the end, or is nothing for people.
      case 'interaction.session.configured':
      case 'interaction.session.idle':
      case 'interaction.input.accepted':
      case 'interaction.turn.started':
      case 'interaction.turn.completed':
      case 'interaction.turn.interrupted':
      case 'interaction.turn.suspended':
      case 'interaction.approval.granted':
      case 'interaction.approval.revoked':
      case 'interaction.subagent.selected':
      case 'interaction.subagent.started':
      case 'interaction.subagent.completed':
      case 'interaction.subagent.failed':
      case 'interaction.cancel.requested':
      case 'interaction.queue.left':
        return []
      default:
        return event satisfies never
    }
  }

  #asked({ request }: InteractionEvent<'interaction.approval.requested'>): readonly string[] {
    const line = `  ${this.#paint('yellow', `? ${needText(request.scope)}`)}: ${exactLine(requestSummary(request))}`
    if (this.#questions === 'here') return [line]
    this.#untold.set(request.id, line)
    return []
  }

  /** What was asked, where that was not at the terminal. */
  #answered({ approvalId, by }: InteractionEvent<'interaction.approval.resolved'>): readonly string[] {
    const line = this.#untold.get(approvalId)
    this.#untold.delete(approvalId)
    return line === undefined || by === atTheTerminal ? [] : [line]
  }

  #note({ severity, code, message }: Diagnostic): string {
    return `${this.#paint(severity === 'error' ? 'red' : 'yellow', code)}: ${printable(message)}`
  }

  #inLine({ itemId, queue }: QueueEvent, { calls }: SessionNodes): string {
    const call = itemId === undefined ? undefined : calls.get(itemId)
    return `  ${this.#paint('cyan', '◷')} ${call ? `${printable(call.name)} ` : ''}${this.#paint('dim', queueText(queue))}`
  }

  #stepStarted(event: InteractionEvent<'interaction.step.started'>): readonly string[] {
    const paint = this.#paint
    const isRetry = event.attempt > 1 && !event.last
    if (isRetry && this.#detail === 'plain') return []
    const why = event.last ? paint('yellow', ` · last answer forced: ${reasonText[event.last.reason]}`) : ''
    const model = event.model === this.#named.get(event.sessionId) ? '' : ` ${paint('dim', modelText(event.model))}`
    const attempt = isRetry ? paint('dim', ` · attempt ${event.attempt}`) : ''
    this.#named.set(event.sessionId, event.model)
    return [`${paint('bold', `step ${numberOf(event.stepId)}`)}${model}${attempt}${why}`]
  }

  /** What was wrong with the answer before, and where more is wanted that answer. */
  #refused(nodes: SessionNodes, how: 'sent back' | 'refused'): readonly string[] {
    const isLast = how === 'refused'
    const refused = lastTurn(nodes)?.steps.at(isLast ? -1 : -2)?.rejected
    const { attempts = [] } = lastStep(nodes) ?? {}
    if (!refused || (!isLast && attempts.length > 1)) return []
    const head = this.#paint(isLast ? 'red' : 'yellow', `${isLast ? '✗' : '↻'} ${rejectedLabel(isLast)}`)
    const text = this.#detail === 'verbose' && refused.text !== '' ? this.#quietly([beginning(refused.text)]) : []
    return [`  ${head}: ${beginning(problemText(refused))}`, ...text]
  }

  /** What a hook did to a call is told with the call, where that has not begun yet. */
  #hooked(
    { itemId, hook, verdict, message = '' }: InteractionEvent<'interaction.hook.completed'>,
    { calls }: SessionNodes,
  ): readonly string[] {
    const text = beginning(hookText({ hook, verdict, message }))
    if (itemId === undefined) return [`  ${verdict === 'context' ? text : this.#paint('yellow', text)}`]
    return calls.has(itemId) ? this.#quietly([text]) : []
  }

  #stepFailed({ stepId, failure, delayMs }: InteractionEvent<'interaction.step.failed'>, { steps }: SessionNodes): readonly string[] {
    const paint = this.#paint
    if (failure.class === 'cancelled') return []
    const isTriedAgain = steps.get(stepId ?? '')?.attempts.at(-1)?.nextAt !== undefined
    const wait = isTriedAgain ? `; next in ${duration(delayMs)}` : ''
    // A sentence that goes on has no full stop in it.
    const message = isTriedAgain ? printable(failure.message).replace(/\.$/, '') : printable(failure.message)
    return [`  ${paint('yellow', `↻ ${failure.class}`)}: ${message}${paint('dim', wait)}`]
  }

  #spent({ usage, cost, latencyMs, finish }: InteractionEvent<'interaction.step.completed'>): string {
    const reasoning = usage.reasoning > 0 ? `${usage.reasoning} of them reasoning` : ''
    const cached = usage.cacheRead > 0 ? `${usage.cacheRead} from the cache` : ''
    const parts = [`${tokens(usage)} tokens`, reasoning, cached, price(cost), duration(latencyMs), finish]
    return this.#paint('dim', `  = ${parts.filter(Boolean).join(' · ')}`)
  }

  #planned(plan: Plan): readonly string[] {
    const now = plan.steps.find(({ status }) => status === 'in_progress')
    const head = `  ${this.#paint('cyan', '☰')} plan ${this.#paint('dim', `· ${planText(plan)}${now ? ` · now: ${printable(now.step)}` : ''}`)}`
    return this.#detail === 'verbose' ? [head, ...this.#quietly(planLines(plan, plan.steps.length))] : [head]
  }

  /** What the model has said beside its calls; without calls it is the answer, which has its place elsewhere. */
  #said({ stepId }: InteractionEvent<'interaction.step.completed'>, { steps }: SessionNodes): readonly string[] {
    const { words } = steps.get(stepId ?? '') ?? {}
    if (words === undefined) return []
    return replyLines(words, { width: wordsWidth, most: mostWords }).map((line) => `  ${this.#paint('dim', '│')} ${line}`.trimEnd())
  }

  #triedAgain({ itemId }: InteractionEvent<'interaction.item.updated'>, { calls }: SessionNodes): readonly string[] {
    const call = calls.get(itemId ?? '')
    if (call?.sandbox.kind !== 'outside') return []
    return [`  ${this.#paint('yellow', '↗')} ${printable(call.name)} ${this.#paint('yellow', outsideText(call.sandbox.by, 'runs'))}`]
  }

  #callStarted({ id, tool, input }: CallIntent, { calls }: SessionNodes): readonly string[] {
    const paint = this.#paint
    const call = calls.get(id)
    // What was asked about has been told already.
    const permit = call?.permit?.kind === 'approved' && isUnasked(call.permit.by) ? permitText(call.permit) : ''
    const about = call?.about ? `${paint('dim', ' · ')}${beginning(call.about)}` : ''
    const told = [quoted(beginning(call?.reason ?? ''), mostShown), permit].filter(Boolean).map((part) => paint('dim', ` · ${part}`))
    const line = `  ${paint('cyan', '→')} ${printable(call?.name ?? tool)}${about}${told.join('')}`
    const hooks = this.#quietly(hookDetails(call?.hooks ?? []).map(({ text }) => beginning(text)))
    const given = this.#detail === 'verbose' ? this.#quietly([beginning(JSON.stringify(input))]) : []
    return [line, ...hooks, ...given]
  }

  #callEnded(item: CallRecord, { calls }: SessionNodes): readonly string[] {
    const { id, status, latencyMs, error } = item
    const paint = this.#paint
    const call = calls.get(id)
    const tool = printable(call?.name ?? id)
    const code = exitCodeOf(item)
    if (status === 'completed') {
      const mark = isFailedExit(code) ? paint('yellow', failedCommandMark) : paint('green', '✓')
      const ended = isFailedExit(code) ? ` ${paint('yellow', `exit code ${code}`)}` : ''
      return [`  ${mark} ${tool}${ended} ${paint('dim', duration(latencyMs))}`, ...this.#came(item)]
    }
    const why = error ? failureText(error, call?.hooks ?? []) : status
    return [`  ${paint('red', `✗ ${tool}`)} ${why} ${paint('dim', duration(latencyMs))}`, ...this.#came(item)]
  }

  /** What came of a call: which files have changed and, for those who want to know more, how; the end of what was printed. */
  #came(item: CallRecord): readonly string[] {
    const { content, type } = item
    const changes = changesOf(item)
    if (changes.length > 0)
      return changes.flatMap((change) => [
        ...this.#quietly([changeText(change)]),
        ...(this.#detail === 'verbose' ? diffLines(change.diff, this.#paint) : []),
      ])
    if (this.#detail === 'verbose') return content === '' ? [] : this.#quietly([beginning(content)])
    // The first line says how it ended, and stands above.
    return type === 'command_execution' ? this.#quietly(outputLines(content.slice(content.indexOf('\n') + 1)).map(beginning)) : []
  }

  #quietly(lines: readonly string[]): readonly string[] {
    return lines.map((line) => this.#paint('dim', `    ${line}`))
  }
}

const decisions = { approve: 'approved', answer: 'answered', deny: 'declined', abort: 'declined' } as const

const resolvedText = ({ decision, by }: InteractionEvent<'interaction.approval.resolved'>): string =>
  `${decidedText(decisions[decision.kind], by)}${decision.kind === 'approve' && decision.breadth !== 'once' ? ` for the ${decision.breadth}` : ''}`

const mostDiff = 40

/** A diff in its colours, as far as anybody reads it here. */
function diffLines(diff: string, paint: Paint): readonly string[] {
  const lines = diff.split('\n').filter((line) => line !== '' && !/^(?:---|\+\+\+) /.test(line))
  const shown = lines.slice(0, mostDiff).map((line) => {
    const text = `    ${exactLines(line.slice(0, mostShown), mostShown).join('')}`
    if (line.startsWith('+')) return paint('green', text)
    return paint(line.startsWith('-') ? 'red' : 'dim', text)
  })
  return lines.length > mostDiff ? [...shown, paint('dim', `    … ${lines.length - mostDiff} more lines`)] : shown
}

const mostShown = 200
const wordsWidth = 100
const mostWords = 12

/** As much of a text as fits on a line or two. */
function beginning(text: string): string {
  // A text may be huge, and white space shrinks: what is looked at has a bound, too.
  return fitWidth(printable(text.slice(0, 10 * mostShown)), mostShown).trimEnd()
}

/** `t1.s3` → `3`. */
function numberOf(stepId: string | undefined): string {
  return stepId?.split('.s').at(-1) ?? '?'
}
