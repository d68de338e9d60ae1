import { plural } from '../../../util/plural.ts'
import { type CallNode, elapsed, isRunning, lastTurn, type SessionNodes, turnTimes, workOf } from '../../../view/index.ts'
import type { CursorPlace, Size } from '../../progress/screen.ts'
import { collapseRows } from '../../progress/tree/collapse-rows.ts'
import { linesOf } from '../../progress/tree/layout.ts'
import { planRow } from '../../progress/tree/leaf-rows.ts'
import { spinnerAt } from '../../progress/tree/tree-row.ts'
import { callRowNode } from '../../progress/tree/turn-rows.ts'
import type { Paint } from '../../terminal/paint.ts'
import { printable } from '../../terminal/printable.ts'
import { fitWidth, widthOf } from '../../terminal/text-width.ts'
import { statusParts } from './chat-figures.ts'
import type { Completion } from './complete-text.ts'
import type { Conversation } from './conversation.ts'
import { editorRows } from './editor-rows.ts'
import { type Transcript, textLines } from './transcript.ts'

// What is drawn below the transcript: what happens now, the status, and the line that is typed. Nothing is below that line: some terminals
// move the cursor when they wrap lines below it. Pure.

interface ChatView {
  readonly conversation: Conversation
  readonly transcript: Transcript
  readonly editor: { readonly text: string; readonly cursor: number }
  /** What Enter sends: a message, or the answer to a request. */
  readonly mode: 'message' | 'answer'
  readonly completion: (Completion & { readonly chosen: number }) | undefined
  /** Shown instead of the status. */
  readonly hint: string
  readonly now: number
  readonly paint: Paint
}

interface Frame {
  readonly lines: readonly string[]
  readonly cursor: CursorPlace
}

/** The text is rendered for each frame, so its length is bounded. */
const maxOpenChars = 8_000
const maxChoices = 6
/** Of commands, so that what is about them is aligned. */
const nameWidth = 9
/** In a lower window there is no blank row above the line. */
const minSpacedRows = 6

export function chatFrame(view: ChatView, size: Size): Frame {
  const { editor, mode } = view
  const width = Math.max(2, size.width - 1)
  const maxEditorRows = Math.max(1, Math.min(10, Math.floor(size.height / 3)))
  const prompt = mode === 'answer' ? '? ' : '› '
  const { rows, cursor } = editorRows(editor, { width, maxRows: maxEditorRows, prompt })
  const choices = choiceLines(view, width)
  // One row stays free below the frame.
  const room = Math.max(0, size.height - rows.length - choices.length - 2)
  const blank = room > minSpacedRows ? [''] : []
  const above = [...nowLines(view, width, room - blank.length), ...blank, ...choices, statusLine(view, width)]
  return { lines: [...above, ...rows], cursor: { row: above.length + cursor.row, column: cursor.column } }
}

/** Streamed text that is not complete, running calls and children, the plan, and what the agent does. */
function nowLines(view: ChatView, width: number, room: number): readonly string[] {
  const { conversation, transcript, paint } = view
  const most = Math.floor(room / 2)
  const open = transcript.open.trim().slice(-maxOpenChars)
  const text = open === '' ? [] : textLines(open, transcript.format, { paint, width, cutsCode: true })
  const rows = callLines(view, width, most)
  const activity = conversation.isBusy || conversation.isCutOff ? [activityLine(view, width)] : heldLines(view, width)
  const left = Math.max(0, room - rows.length - activity.length - 1)
  const shown = left === 0 ? [] : text.slice(-left)
  return [...(shown.length > 0 ? ['', ...shown] : []), ...rows, ...activity].slice(-Math.max(1, room))
}

function speakerNodes({ tree, speaker }: Conversation): SessionNodes | undefined {
  return [...tree.sessions.values()].findLast(({ agent }) => agent.path === speaker)
}

function callLines({ conversation, paint, now }: ChatView, width: number, most: number): readonly string[] {
  const nodes = speakerNodes(conversation)
  const turn = nodes && lastTurn(nodes)
  if (!turn || !conversation.isBusy) return []
  const branches = turn.steps.flatMap((step) =>
    step.calls
      .filter((call) => step.open.has(call) || isChildRunning(call))
      .map((call) => callRowNode(call, { step, toolWidth: 0, moment: { kind: 'live', now } })),
  )
  const plan = turn.plan ? [planRow(turn.plan, 'running')] : []
  const all = [...plan, ...branches]
  const each = Math.max(1, Math.floor(most / Math.max(1, all.length)))
  const lines = all.flatMap((branch) => linesOf(collapseRows(branch, each), { paint, width }))
  return lines.length <= most
    ? lines
    : [...lines.slice(0, Math.max(0, most - 1)), paint('dim', `⋯ ${plural(lines.length - most + 1, 'line')}`)]
}

/** A spawned child outlives its call. */
function isChildRunning({ isSpawned, child }: CallNode): boolean {
  const turn = isSpawned ? child?.turns.at(-1) : undefined
  return turn !== undefined && isRunning(turn)
}

function heldLines({ conversation: { held }, paint }: ChatView, width: number): readonly string[] {
  if (held === 0) return []
  const text = `${plural(held, 'message')} not read yet: sent with your next one`
  return [paint('yellow', fitWidth(text, Math.min(width, widthOf(text))))]
}

function activityLine({ conversation, paint, now }: ChatView, width: number): string {
  const { turn, requests } = conversation
  const time = turn ? elapsed(workOf(turnTimes(turn, now))) : ''
  const state = conversation.isCutOff
    ? 'connection lost: trying again'
    : turn?.cancelling === 'interrupt'
      ? 'stopping…'
      : requests.length > 0
        ? `${plural(requests.length, 'request')} for you`
        : turn?.status === 'suspended'
          ? 'suspended'
          : 'Esc stops'
  const name = printable(speakerNodes(conversation)?.agent.name ?? conversation.agent.displayName ?? conversation.agent.name)
  const step = turn && turn.steps.length > 0 ? `step ${turn.steps.length}` : 'starting'
  const work = conversation.isBusy ? [step, time] : []
  const text = [name, ...work, state].filter((part) => part !== '').join(' · ')
  return `${paint('cyan', spinnerAt(now))} ${paint('dim', fitWidth(text, Math.min(width - 2, widthOf(text))))}`
}

function choiceLines({ completion, paint }: ChatView, width: number): readonly string[] {
  if (!completion) return []
  const { choices, chosen } = completion
  const first = Math.max(0, Math.min(chosen - (maxChoices >> 1), choices.length - maxChoices))
  return choices.slice(first, first + maxChoices).map(({ text, about }, index) => {
    const line = about === '' ? printable(text) : `${text.padEnd(nameWidth)}  ${printable(about)}`
    const shown = fitWidth(line, Math.min(width - 2, widthOf(line)))
    return first + index === chosen ? `${paint('cyan', '❯')} ${paint('bold', shown)}` : `  ${paint('dim', shown)}`
  })
}

/** A rule with as many parts of the status as fit. */
function statusLine({ conversation, hint, paint }: ChatView, width: number): string {
  if (hint !== '') return paint('yellow', fitWidth(hint, Math.min(width, widthOf(hint))))
  const room = width - 4
  const [first = '', ...more] = statusParts(conversation)
  let text = fitWidth(first, Math.max(0, Math.min(room, widthOf(first))))
  for (const part of [...more, '/help']) if (widthOf(`${text} · ${part}`) <= room) text = `${text} · ${part}`
  return paint('dim', `─ ${text} ${'─'.repeat(Math.max(0, width - 3 - widthOf(text)))}`)
}
