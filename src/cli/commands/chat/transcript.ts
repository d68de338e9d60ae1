import type { InteractionEvent, ItemDelta, Report, StreamEvent } from '../../../contracts/index.ts'
import { turnEndTexts, withoutFlag } from '../../../policy/limit-texts.ts'
import { type CallNode, decidedText, type SessionNodes, subjectOf, terminalApproverName } from '../../../view/index.ts'
import { isAutomatic } from '../../progress/tree/call-texts.ts'
import { linesOf } from '../../progress/tree/layout.ts'
import { compactionText } from '../../progress/tree/leaf-rows.ts'
import { callRowNode } from '../../progress/tree/turn-rows.ts'
import { exactLine } from '../../terminal/exact-text.ts'
import { renderMarkdown, replyLines, wrapText } from '../../terminal/markdown/render-markdown.ts'
import type { Paint } from '../../terminal/paint.ts'
import { printable } from '../../terminal/printable.ts'
import { decisionText } from '../asking/answer-choices.ts'
import { questionLines, type ShownRequest } from '../asking/question-lines.ts'
import type { Conversation } from './conversation.ts'
import { settledLength } from './settled-text.ts'

// What a conversation leaves on the screen. Lines are printed once, and never change:
//
// 1. Text is printed block by block, as soon as a block is complete.
// 2. A call is one line when it has ended, a child included.

export interface TranscriptView {
  readonly paint: Paint
  readonly width: number
  readonly height?: number
}

const maxMessageLines = 12

type Shown = Pick<Conversation, 'tree' | 'speaker'>

export class Transcript {
  readonly #conversation: Shown
  /** The text of the current item, and how much of it was printed. */
  #item: { id: string; attempt: number; text: string; printed: number } | undefined
  #format = 'markdown'
  /** The last text that was printed as a whole: a report that repeats it is not printed. */
  #said = ''
  /** Whether the last line was text: a blank line separates it from what follows. */
  #last: 'text' | 'row' | undefined

  constructor(conversation: Shown) {
    this.#conversation = conversation
  }

  /** The text that is not printed yet. */
  get open(): string {
    return this.#item ? this.#item.text.slice(this.#item.printed) : ''
  }

  get format(): string {
    return this.#format
  }

  /** The lines that an event adds. It was applied to the tree. */
  take(event: StreamEvent, view: TranscriptView): readonly string[] {
    if (!('seq' in event)) return event.type === 'interaction.item.delta' ? this.#delta(event, view) : []
    if (event.type === 'interaction.approval.resolved') return this.#row([resolvedText(event)], view, 'dim')
    const { speaker } = this.#conversation
    const isSpeaker = event.agentPath === speaker
    switch (event.type) {
      case 'interaction.session.created':
      case 'interaction.session.configured':
        if (isSpeaker) this.#format = event.agent.output.format
        if (event.seq === 1) this.#last = undefined
        return []
      case 'interaction.input.accepted':
        return event.agentPath === 'root' || isSpeaker ? this.#message(event, view) : []
      case 'interaction.step.failed':
        return isSpeaker ? this.#failed(event, view) : []
      case 'interaction.item.completed':
        return isSpeaker ? this.#completed(event, view) : []
      case 'interaction.turn.completed':
      case 'interaction.turn.failed':
      case 'interaction.turn.interrupted':
        return event.agentPath === 'root' || isSpeaker ? this.#ended(event, view) : []
      case 'interaction.subagent.completed':
      case 'interaction.subagent.failed':
        // A spawned child ends after its call.
        return event.turn === undefined ? [] : this.#callRow(this.#calls(event)?.get(event.itemId ?? ''), view)
      case 'interaction.handoff.started':
        return this.#row([`${subjectOf(this.#conversation.tree, event) ?? event.agent} talks to you`], view, 'cyan')
      case 'interaction.handoff.completed':
        return this.#row(
          [`${subjectOf(this.#conversation.tree, event) ?? event.agent} no longer talks to you: ${event.reason}`],
          view,
          'cyan',
        )
      case 'interaction.context.compacted':
        return this.#row([`⇣ history compacted: ${compactionText(event)}`], view, 'dim')
      case 'interaction.diagnostic':
        return event.diagnostic.severity === 'info' ? [] : this.#row([`! ${event.diagnostic.message}`], view, 'yellow')
      default:
        return []
    }
  }

  /** The text that is not complete yet, for a person who leaves. */
  flush(view: TranscriptView): readonly string[] {
    return this.#print(this.#item?.text.length ?? 0, view)
  }

  /** A request to the person, in full. */
  ask(asked: ShownRequest, view: TranscriptView): readonly string[] {
    const blank = this.#last === undefined ? [] : ['']
    this.#last = 'row'
    return [...blank, ...questionLines(asked, { ...view, ...(view.height !== undefined && { height: view.height - frameRows }) })]
  }

  #delta({ kind, itemId, attempt, text, offset, agentPath }: ItemDelta, view: TranscriptView): readonly string[] {
    if (kind !== 'text' || agentPath !== this.#conversation.speaker) return []
    if (this.#item?.id !== itemId || this.#item.attempt !== attempt) this.#item = { id: itemId, attempt, text: '', printed: 0 }
    this.#item.text = this.#item.text.slice(0, offset) + text
    const settled = this.#item.printed + settledLength(this.#item.text.slice(this.#item.printed))
    return this.#print(settled, view)
  }

  /** Prints the current item up to a position. */
  #print(to: number, view: TranscriptView): readonly string[] {
    const item = this.#item
    if (!item || to <= item.printed) return []
    const part = item.text.slice(item.printed, to)
    item.printed = to
    return this.#text(part, view)
  }

  #text(text: string, view: TranscriptView): readonly string[] {
    if (text.trim() === '') return []
    const lines = textLines(text.replace(/^\n+|\s+$/g, ''), this.#format, view)
    const blank = this.#last === undefined ? [] : ['']
    this.#last = 'text'
    return [...blank, ...lines]
  }

  #row(texts: readonly string[], { paint, width }: TranscriptView, shade: 'dim' | 'cyan' | 'yellow' | 'red'): readonly string[] {
    const blank = this.#last === 'text' ? [''] : []
    this.#last = 'row'
    return [...blank, ...texts.flatMap((text) => wrapText(printable(text), { width })).map((line) => paint(shade, line))]
  }

  #message({ parts }: InteractionEvent<'interaction.input.accepted'>, { paint, width }: TranscriptView): readonly string[] {
    const text = parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n')
    const blank = this.#last === undefined ? [] : ['']
    this.#last = 'text'
    const lines = replyLines(text, { width: Math.max(1, width - 2), maxLines: maxMessageLines })
    return [...blank, ...lines.map((line, index) => paint('bold', `${index === 0 ? '›' : ' '} ${line}`))]
  }

  #completed({ item }: InteractionEvent<'interaction.item.completed'>, view: TranscriptView): readonly string[] {
    if (item.kind === 'call') return this.#callRow(this.#speakerNodes()?.calls.get(item.id), view)
    if (item.kind !== 'text' || item.type !== 'agent_message') return []
    if (this.#item?.id !== item.id || !item.text.startsWith(this.#item.text.slice(0, this.#item.printed)))
      this.#item = { id: item.id, attempt: 0, text: '', printed: 0 }
    this.#item.text = item.text
    this.#said = item.text
    const lines = this.#print(item.text.length, view)
    this.#item = undefined
    return lines
  }

  #callRow(call: CallNode | undefined, view: TranscriptView): readonly string[] {
    const step =
      call &&
      this.#speakerNodes()
        ?.agent.turns.flatMap(({ steps }) => steps)
        .findLast(({ calls }) => calls.includes(call))
    if (!call || !step) return []
    const node = callRowNode(call, { step, toolWidth: 0, moment: { kind: 'final' } })
    const blank = this.#last === 'text' ? [''] : []
    this.#last = 'row'
    return [...blank, ...linesOf({ ...node, children: [] }, view)]
  }

  #failed({ failure }: InteractionEvent<'interaction.step.failed'>, view: TranscriptView): readonly string[] {
    const { printed = 0, text = '' } = this.#item ?? {}
    this.#item = undefined
    if (failure.class === 'cancelled') return this.#text(text.slice(printed), view)
    return this.#row([`↻ ${failure.class}: ${failure.message}${printed > 0 ? ' The answer begins again.' : ''}`], view, 'yellow')
  }

  #ended(
    event: InteractionEvent<'interaction.turn.completed' | 'interaction.turn.failed' | 'interaction.turn.interrupted'>,
    view: TranscriptView,
  ): readonly string[] {
    const rest = this.#unsaid(event.report, view)
    const { ending } = event
    if (ending.status === 'completed') return rest
    const why = ending.reason === ending.status ? ending.status : `${ending.status}: ${turnEndTexts[ending.reason].status}`
    if (ending.status !== 'failed') return [...rest, ...this.#row([`■ ${why}`], view, 'yellow')]
    const remedy = withoutFlag(ending.remedy ?? ending.failure?.remedy ?? '')
    return [...rest, ...this.#row([`✗ ${ending.message}`, ...(remedy === '' ? [] : [`→ ${remedy}`])], view, 'red')]
  }

  /** A report that differs from the last text. */
  #unsaid(report: Report | undefined, view: TranscriptView): readonly string[] {
    const open = this.#item ? this.#print(this.#item.text.length, view) : []
    const said = this.#said
    this.#item = undefined
    this.#said = ''
    if (!report || open.length > 0 || said.trim() === report.text.trim()) return open
    return this.#text(report.text, view)
  }

  #speakerNodes(): SessionNodes | undefined {
    const { tree, speaker } = this.#conversation
    return [...tree.sessions.values()].findLast(({ agent }) => agent.path === speaker)
  }

  #calls({ sessionId }: InteractionEvent): SessionNodes['calls'] | undefined {
    return this.#conversation.tree.sessions.get(sessionId)?.calls
  }
}

/** Rows that the frame takes below a question. */
const frameRows = 5

/** A text of an agent in its format. */
export const textLines = (text: string, format: string, view: Parameters<typeof renderMarkdown>[1]): readonly string[] =>
  format === 'markdown' ? renderMarkdown(text, view) : wrapText(text, view)

function resolvedText({ decision, by }: InteractionEvent<'interaction.approval.resolved'>): string {
  if (isAutomatic(by)) return decidedText('approved', by)
  const breadth = decision.kind === 'approve' && decision.breadth !== 'once' ? ` for the ${decision.breadth}` : ''
  const reason = decision.kind === 'deny' && decision.feedback !== undefined ? `: ${exactLine(decision.feedback)}` : ''
  const who = by === terminalApproverName ? '' : ` by ${by}`
  return `${decision.kind === 'abort' ? 'denied, turn ended' : decisionText[decision.kind]}${breadth}${who}${reason}`
}
