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
import { turnEndTexts } from '../../policy/limit-texts.ts'
import {
  applyEvent,
  applyPast,
  callTimes,
  changesOf,
  decidedText,
  duration,
  emptyTree,
  exitCodeOf,
  failedInside,
  lastStep,
  lastTurn,
  price,
  type RunTree,
  requestSummary,
  type SessionNodes,
  stepName,
  subjectOf,
  terminalApproverName,
  tokens,
  workTime,
} from '../../view/index.ts'
import { exactLine, exactLines } from '../terminal/exact-text.ts'
import { replyLines } from '../terminal/markdown/render-markdown.ts'
import type { Paint } from '../terminal/paint.ts'
import { printable } from '../terminal/printable.ts'
import { fitWidth } from '../terminal/text-width.ts'
import { failedCommandMark, quoted } from './tree/call-row.ts'
import { changeText, isAutomatic, isFailedExit, partTexts, permitText, unsandboxedText } from './tree/call-texts.ts'
import { hookDetails, hookText, problemText, rejectedLabel } from './tree/hook-rows.ts'
import { compactionText, failureText, outputLines, planLines, planText, queueText, requestLabel } from './tree/leaf-rows.ts'
import { modelText } from './tree/model-text.ts'

/** `verbose` adds arguments, results and the usage of each step. */
type PlainDetail = 'plain' | 'verbose'

/** Whether a request is printed as a line here, or shown by the approver. */
export type Questions = 'here' | 'elsewhere'

/** Progress as lines. Lines of a child begin with its label. */
export class PlainProgress {
  readonly #paint: Paint
  readonly #detail: PlainDetail
  readonly #questions: Questions
  /** Lines of requests that the approver shows. If another process answers, the approver may not have shown them. */
  readonly #unshown = new Map<ApprovalId, string>()
  readonly #tree = emptyTree()
  /** The last model of each session: it is named only when it changes. */
  readonly #lastModels = new Map<SessionId, string>()

  constructor(paint: Paint, detail: PlainDetail = 'plain', questions: Questions = 'here') {
    this.#paint = paint
    this.#detail = detail
    this.#questions = questions
  }

  recall(past: readonly InteractionEvent[]): void {
    applyPast(this.#tree, past)
  }

  lines(event: StreamEvent): readonly string[] {
    const { session: nodes } = applyEvent(this.#tree, event)
    const lines = this.#linesFor(event, nodes)
    const { label } = nodes.agent
    if (lines.length === 0 || label === '') return lines
    const who = this.#paint('dim', `${printable(label)} │ `)
    return lines.map((line) => `${who}${line}`)
  }

  #linesFor(event: StreamEvent, nodes: SessionNodes): readonly string[] {
    const paint = this.#paint
    switch (event.type) {
      case 'interaction.session.created':
        // The ID of the root is printed elsewhere.
        return this.#detail === 'verbose' && event.parent ? [paint('dim', `run ${printable(event.sessionId)}`)] : []
      case 'interaction.step.started':
        return [...this.#rejected(nodes, 'sent back'), ...this.#stepStarted(event, nodes)]
      case 'interaction.step.completed':
        return [...this.#textLines(event, nodes), ...(this.#detail === 'verbose' ? [this.#usageLine(event)] : [])]
      case 'interaction.step.failed':
        return this.#stepFailed(event, nodes)
      case 'interaction.item.started':
        if (event.item.kind === 'plan') return this.#planned(event.item.plan)
        return event.item.kind === 'call' ? this.#callStarted(event.item, nodes) : []
      case 'interaction.item.updated':
        return event.update.kind === 'plan' ? this.#planned(event.update.plan) : this.#retryLines(event, nodes)
      case 'interaction.item.completed':
        return event.item.kind === 'call' ? this.#callEnded(event.item, nodes) : []
      case 'interaction.item.delta':
        return event.kind === 'progress' ? [paint('dim', `    ${printable(event.text)}`)] : []
      case 'interaction.queue.joined':
        return [this.#queueLine(event, nodes)]
      case 'interaction.approval.requested':
        return this.#requestLines(event)
      case 'interaction.approval.resolved':
        return [...this.#answeredLines(event), paint('dim', `    ${resolvedText(event)}`)]
      case 'interaction.context.compacted':
        return [`  ${paint('cyan', '⇣')} history compacted: ${compactionText(event)}`]
      case 'interaction.context.added':
        // Context of a hook is shown with the hook.
        return this.#detail === 'verbose' && !event.source.startsWith('hook ') ? [paint('dim', `context ${printable(event.source)}`)] : []
      case 'interaction.turn.failed':
        return this.#rejected(nodes, 'refused')
      case 'interaction.hook.completed':
        return this.#hookLines(event, nodes)
      case 'interaction.handoff.started':
      case 'interaction.handoff.completed':
        return [`  ${paint('cyan', '⇄')} ${printable(handoffText(this.#tree, event))}`]
      case 'interaction.diagnostic':
        return [this.#diagnosticLine(event.diagnostic)]
      case 'interaction.session.resumed':
        return event.diagnostics.map((diagnostic) => this.#diagnosticLine(diagnostic))
      // Shown in the final tree, or not relevant for people.
      case 'interaction.session.configured':
      case 'interaction.session.idle':
      case 'interaction.input.accepted':
      case 'interaction.held.sent':
      case 'interaction.history.added':
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
      case 'interaction.subagent.closed':
      case 'interaction.cancel.requested':
      case 'interaction.offer.recorded':
      case 'interaction.queue.left':
        return []
      default:
        return event satisfies never
    }
  }

  #requestLines({ request }: InteractionEvent<'interaction.approval.requested'>): readonly string[] {
    const line = `  ${this.#paint('yellow', `? ${requestLabel(request.scope)}`)}: ${exactLine(requestSummary(request))}`
    if (this.#questions === 'here') return [line]
    this.#unshown.set(request.id, line)
    return []
  }

  /** The request, if it was not answered at this terminal. */
  #answeredLines({ approvalId, by }: InteractionEvent<'interaction.approval.resolved'>): readonly string[] {
    const line = this.#unshown.get(approvalId)
    this.#unshown.delete(approvalId)
    return line === undefined || by === terminalApproverName ? [] : [line]
  }

  #diagnosticLine({ severity, code, message }: Diagnostic): string {
    return `${this.#paint(severity === 'error' ? 'red' : 'yellow', code)}: ${printable(message)}`
  }

  #queueLine({ itemId, queue }: QueueEvent, { calls }: SessionNodes): string {
    const call = itemId === undefined ? undefined : calls.get(itemId)
    return `  ${this.#paint('cyan', '◷')} ${call ? `${printable(call.name)} ` : ''}${this.#paint('dim', queueText(queue))}`
  }

  #stepStarted(event: InteractionEvent<'interaction.step.started'>, nodes: SessionNodes): readonly string[] {
    const paint = this.#paint
    const isRetry = event.attempt > 1 && !event.last
    if (isRetry && this.#detail === 'plain') return []
    const why = event.last ? paint('yellow', ` · last answer forced: ${turnEndTexts[event.last.reason].status}`) : ''
    const model = event.model === this.#lastModels.get(event.sessionId) ? '' : ` ${paint('dim', modelText(event.model))}`
    const attempt = isRetry ? paint('dim', ` · attempt ${event.attempt}`) : ''
    this.#lastModels.set(event.sessionId, event.model)
    const name = stepName(nodes.agent, lastTurn(nodes), numberOf(event.stepId))
    return [`${paint('bold', name)}${model}${attempt}${why}`]
  }

  /** The problems of a rejected answer; with `verbose`, also its text. */
  #rejected(nodes: SessionNodes, how: 'sent back' | 'refused'): readonly string[] {
    const isLast = how === 'refused'
    const rejected = lastTurn(nodes)?.steps.at(isLast ? -1 : -2)?.rejected
    const { attempts = [] } = lastStep(nodes) ?? {}
    if (!rejected || (!isLast && attempts.length > 1)) return []
    const head = this.#paint(isLast ? 'red' : 'yellow', `${isLast ? '✗' : '↻'} ${rejectedLabel(isLast)}`)
    const text = this.#detail === 'verbose' && rejected.text !== '' ? this.#dimmed([shorten(rejected.text)]) : []
    return [`  ${head}: ${shorten(problemText(rejected))}`, ...text]
  }

  /** A hook before a call is shown when the call starts. */
  #hookLines(
    { itemId, hook, verdict, message = '' }: InteractionEvent<'interaction.hook.completed'>,
    { calls }: SessionNodes,
  ): readonly string[] {
    const text = shorten(hookText({ hook, verdict, message }))
    if (itemId === undefined) return [`  ${verdict === 'context' ? text : this.#paint('yellow', text)}`]
    return calls.has(itemId) ? this.#dimmed([text]) : []
  }

  #stepFailed({ stepId, failure, delayMs }: InteractionEvent<'interaction.step.failed'>, { steps }: SessionNodes): readonly string[] {
    const paint = this.#paint
    if (failure.class === 'cancelled') return []
    const isTriedAgain = steps.get(stepId ?? '')?.attempts.at(-1)?.nextAt !== undefined
    const wait = isTriedAgain ? `; next in ${duration(delayMs)}` : ''
    const message = isTriedAgain ? printable(failure.message).replace(/\.$/, '') : printable(failure.message)
    return [`  ${paint('yellow', `↻ ${failure.class}`)}: ${message}${paint('dim', wait)}`]
  }

  #usageLine({ usage, cost, latencyMs, finish }: InteractionEvent<'interaction.step.completed'>): string {
    const reasoning = usage.reasoning > 0 ? `${usage.reasoning} of them reasoning` : ''
    const cached = usage.cacheRead > 0 ? `${usage.cacheRead} from the cache` : ''
    const parts = [`${tokens(usage)} tokens`, reasoning, cached, price(cost), duration(latencyMs), finish]
    return this.#paint('dim', `  = ${parts.filter(Boolean).join(' · ')}`)
  }

  #planned(plan: Plan): readonly string[] {
    const now = plan.steps.find(({ status }) => status === 'in_progress')
    const head = `  ${this.#paint('cyan', '☰')} plan ${this.#paint('dim', `· ${planText(plan)}${now ? ` · now: ${printable(now.step)}` : ''}`)}`
    return this.#detail === 'verbose' ? [head, ...this.#dimmed(planLines(plan, plan.steps.length))] : [head]
  }

  /** Text beside calls. Without calls it is the answer, which is printed elsewhere. */
  #textLines({ stepId }: InteractionEvent<'interaction.step.completed'>, { steps }: SessionNodes): readonly string[] {
    const { words } = steps.get(stepId ?? '') ?? {}
    if (words === undefined) return []
    return replyLines(words, { width: wordsWidth, maxLines: maxTextLines }).map((line) => `  ${this.#paint('dim', '│')} ${line}`.trimEnd())
  }

  #retryLines({ itemId }: InteractionEvent<'interaction.item.updated'>, { calls }: SessionNodes): readonly string[] {
    const call = calls.get(itemId ?? '')
    if (call?.sandbox.kind !== 'outside') return []
    return [`  ${this.#paint('yellow', '↗')} ${printable(call.name)} ${this.#paint('yellow', unsandboxedText(call.sandbox.by, 'runs'))}`]
  }

  #callStarted({ id, tool, input }: CallIntent, { calls }: SessionNodes): readonly string[] {
    const paint = this.#paint
    const call = calls.get(id)
    // Decisions of a person have been shown already.
    const permit = call?.permit?.kind === 'approved' && isAutomatic(call.permit.by) ? permitText(call.permit) : ''
    const about = call?.about ? `${paint('dim', ' · ')}${shorten(call.about)}` : ''
    const notes = [quoted(shorten(call?.reason ?? ''), maxLineWidth), permit].filter(Boolean).map((part) => paint('dim', ` · ${part}`))
    const line = `  ${paint('cyan', '→')} ${printable(call?.name ?? tool)}${about}${notes.join('')}`
    const hooks = this.#dimmed(hookDetails(call?.hooks ?? []).map(({ text }) => shorten(text)))
    const given = this.#detail === 'verbose' ? this.#dimmed([shorten(JSON.stringify(input))]) : []
    return [line, ...hooks, ...given]
  }

  #callEnded(item: CallRecord, { calls }: SessionNodes): readonly string[] {
    const { id, status, latencyMs, error } = item
    const paint = this.#paint
    const call = calls.get(id)
    const tool = printable(call?.name ?? id)
    const code = exitCodeOf(item)
    const time = paint('dim', call?.child ? workTime(callTimes(call)) : duration(latencyMs))
    const failed = call ? failedInside(call) : 0
    const dot = paint('dim', ' · ')
    const inside = failed > 0 ? `${dot}${paint('yellow', `${failed} failed inside`)}${dot}` : ' '
    if (status === 'completed') {
      const mark = isFailedExit(code) ? paint('yellow', failedCommandMark) : paint('green', '✓')
      const ended = isFailedExit(code) ? ` ${paint('yellow', `exit code ${code}`)}` : ''
      return [`  ${mark} ${tool}${ended}${inside}${time}`, ...this.#resultLines(item)]
    }
    const why = error ? failureText(error, call?.hooks ?? []) : status
    return [`  ${paint('red', `✗ ${tool}`)} ${why}${inside}${time}`, ...this.#resultLines(item)]
  }

  /** Changed files, with `verbose` their diffs; for a command, the end of its output. */
  #resultLines(item: CallRecord): readonly string[] {
    const { content, type } = item
    const changes = changesOf(item)
    if (item.parts && this.#detail !== 'verbose') return this.#dimmed(partTexts(item.parts).map(shorten))
    if (changes.length > 0)
      return changes.flatMap((change) => [
        ...this.#dimmed([changeText(change)]),
        ...(this.#detail === 'verbose' ? diffLines(change.diff, this.#paint) : []),
      ])
    if (this.#detail === 'verbose') return content === '' ? [] : this.#dimmed([shorten(content)])
    // The first line repeats the exit status.
    return type === 'command_execution' ? this.#dimmed(outputLines(content.slice(content.indexOf('\n') + 1)).map(shorten)) : []
  }

  #dimmed(lines: readonly string[]): readonly string[] {
    return lines.map((line) => this.#paint('dim', `    ${line}`))
  }
}

const decisions = { approve: 'approved', answer: 'answered', result: 'answered', deny: 'declined', abort: 'declined' } as const

const resolvedText = ({ decision, by }: InteractionEvent<'interaction.approval.resolved'>): string =>
  `${printable(decidedText(decisions[decision.kind], by))}${decision.kind === 'approve' && decision.breadth !== 'once' ? ` for the ${decision.breadth}` : ''}`

const maxDiffLines = 40

function diffLines(diff: string, paint: Paint): readonly string[] {
  const lines = diff.split('\n').filter((line) => line !== '' && !/^(?:---|\+\+\+) /.test(line))
  const shown = lines.slice(0, maxDiffLines).map((line) => {
    const text = `    ${exactLines(line.slice(0, maxLineWidth), maxLineWidth).join('')}`
    if (line.startsWith('+')) return paint('green', text)
    return paint(line.startsWith('-') ? 'red' : 'dim', text)
  })
  return lines.length > maxDiffLines ? [...shown, paint('dim', `    … ${lines.length - maxDiffLines} more lines`)] : shown
}

const maxLineWidth = 200
const wordsWidth = 100
const maxTextLines = 12

function shorten(text: string): string {
  // Bounds the work on a huge text; white space may shrink.
  return fitWidth(printable(text.slice(0, 10 * maxLineWidth)), maxLineWidth).trimEnd()
}

/** `t1.s3` → `3`. */
function numberOf(stepId: string | undefined): string {
  return stepId?.split('.s').at(-1) ?? '?'
}

function handoffText(tree: RunTree, event: InteractionEvent<'interaction.handoff.started' | 'interaction.handoff.completed'>): string {
  const name = subjectOf(tree, event) ?? event.agent
  return event.type === 'interaction.handoff.started' ? `${name} talks to you` : `${name} no longer talks to you: ${event.reason}`
}
