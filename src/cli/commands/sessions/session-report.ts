import type { Diagnostic, Outcome } from '../../../contracts/index.ts'
import { turnEndTexts } from '../../../policy/limit-texts.ts'
import { agentFileOf, type CommandPlace, dataDirFlag, resumeHint } from '../../../project/index.ts'
import { plural } from '../../../util/plural.ts'
import { elapsed, runTree, summaryOf, timeText, turnTimes, workTime } from '../../../view/index.ts'
import { renderSummary, withToolNames } from '../../progress/tree/render-summary.ts'
import { maxTreeLines, renderTurn } from '../../progress/tree/render-tree.ts'
import type { Moment } from '../../progress/tree/tree-row.ts'
import { replyLines } from '../../terminal/markdown/render-markdown.ts'
import type { Paint } from '../../terminal/paint.ts'
import { printable } from '../../terminal/printable.ts'
import { callLines } from './call-lines.ts'
import { countRepeats, type LoadedSession, type LoadedTurn } from './load-session.ts'
import { stateText } from './session-lines.ts'
import { totalsText } from './session-totals.ts'
import { waitingLines } from './waiting-lines.ts'

// The report of `sessions show`: state, then input, tree and answer of each turn. Pure.

interface ReportStyle {
  readonly place: CommandPlace
  readonly paint: Paint
  readonly width: number
  /** Whether text is wrapped: a pipe gets it as it is. */
  readonly isWindow: boolean
  readonly now: number
  /** With arguments and results of calls. */
  readonly isVerbose?: true
}

const indent = '  '
/** Earlier turns are only counted. */
const maxTurns = 20
/** The input may contain whole files. */
const maxInputLines = 20
/** For input and answer of earlier turns. */
const maxEarlierLines = 5
const maxDiagnostics = 20
const maxRequests = 5

export function sessionReport(shown: LoadedSession, style: ReportStyle): readonly string[] {
  const { paint } = style
  const { turns, asked, held, outcome, operations } = shown
  const hidden = Math.max(0, turns.length - maxTurns)
  const blocks = [
    headLines(shown, style),
    ...(hidden > 0 ? [[paint('dim', `⋯ ${plural(hidden, 'earlier turn')}`)]] : []),
    ...(turns.length === 0 ? [inputLines(asked, maxInputLines, style)] : turnBlocks(shown, hidden, style)),
    section('Held until the next message', held.join('\n\n'), { ...style, maxLines: maxInputLines }),
    diagnosticLines(outcome.diagnostics, style),
    style.isVerbose ? callBlock(shown, style) : [],
    operations.length === 0
      ? []
      : [
          ...renderSummary(withToolNames(summaryOf(operations, outcome.trace), shown.events), style),
          `${paint('dim', 'total')} ${totalsText(shown.totals)}`,
        ],
  ]
  return blocks.filter(({ length }) => length > 0).flatMap((block, i) => (i === 0 ? block : ['', ...block]))
}

function headLines(shown: LoadedSession, style: ReportStyle): readonly string[] {
  const { run, origin, standing, outcome, turns } = shown
  const { paint, place } = style
  const where = origin ? `${agentFileOf(origin)}${origin.workspace === place.here ? '' : ` in ${origin.workspace}`}` : ''
  const about = [
    where,
    `began ${timeText(run.createdAt)}`,
    timeSummary(shown, style.now),
    turns.length > 1 ? plural(turns.length, 'turn') : '',
  ]
  const how = `${stateText(standing)}${standing.kind === 'ended' ? reasonSuffix(outcome) : ''}`
  return [
    `${run.treeId}  ${printable(run.agent)}  ${paint(shadeOf(shown), printable(how))}`,
    `${indent}${paint('dim', printable(about.filter(Boolean).join(' · ')))}`,
    ...failureLines(outcome, paint),
    ...nextStepLines(shown, style),
  ]
}

function shadeOf({ standing }: LoadedSession): 'red' | 'yellow' | 'bold' {
  if (standing.kind === 'damaged') return 'red'
  if (standing.kind === 'ended') return standing.status === 'failed' ? 'red' : 'bold'
  return standing.kind === 'running' ? 'bold' : 'yellow'
}

function timeSummary({ run, standing, totals, events }: LoadedSession, now: number): string {
  switch (standing.kind) {
    case 'ended':
      return `took ${workTime(totals)}`
    case 'running': {
      const turn = runTree(events).roots[0]?.turns.at(-1)
      return `${turn ? workTime(turnTimes(turn, now), elapsed) : elapsed(now - run.createdAt)} so far`
    }
    case 'waiting':
      return `waiting since ${timeText(run.updatedAt)}`
    case 'unfinished':
    case 'damaged':
      return `last event ${timeText(run.updatedAt)}`
    default:
      return standing satisfies never
  }
}

const reasonSuffix = ({ status, reason }: Outcome): string =>
  reason === undefined || reason === status ? '' : `: ${turnEndTexts[reason].status}`

function failureLines({ status, message, failure, remedy = failure?.remedy }: Outcome, paint: Paint): readonly string[] {
  const what = message ?? failure?.message
  if (status !== 'failed' || what === undefined) return []
  return [
    `${indent}${paint('red', 'error:')} ${printable(what)}`,
    ...(remedy === undefined ? [] : [`${indent}${paint('cyan', '→')} ${printable(remedy)}`]),
  ]
}

function nextStepLines(shown: LoadedSession, style: ReportStyle): readonly string[] {
  const { place } = style
  switch (shown.standing.kind) {
    case 'running':
    case 'damaged':
      return []
    case 'waiting':
      return requestLines(shown, style)
    case 'unfinished':
      return [`${indent}${resumeHint(shown, place)}`]
    case 'ended':
      return [`${indent}next turn: ${resumeHint(shown, place)}`]
    default:
      return shown.standing satisfies never
  }
}

/** Open requests first. Those that do not fit are listed by `approvals list`. */
function requestLines(shown: LoadedSession, { place, paint, width }: ReportStyle): readonly string[] {
  const requests = [...shown.requests].sort((a, b) => Number(a.answer !== undefined) - Number(b.answer !== undefined))
  const left = requests.length - maxRequests
  // Without the heading, which this report has already.
  const lines = waitingLines({ ...shown, requests: requests.slice(0, maxRequests) }, place, { paint, width: width - 1 }).slice(1)
  const more = `${indent}⋯ ${left} more: troupe approvals list${dataDirFlag(place.dataDir)}`
  return left > 0 ? lines.toSpliced(-1, 0, more) : lines
}

function turnBlocks(shown: LoadedSession, hidden: number, style: ReportStyle): readonly (readonly string[])[] {
  const { turns, events, standing, outcome } = shown
  const moment: Moment = standing.kind === 'running' ? { kind: 'live', now: style.now } : { kind: 'final' }
  const maxLines = Math.floor(maxTreeLines / Math.min(turns.length, maxTurns))
  const [agent] = runTree(events).roots
  return turns.slice(hidden).flatMap((turn, i) => {
    const place = hidden + i
    const node = agent?.turns[place]
    const isLast = place === turns.length - 1
    // Notes from before the first step are shown once.
    const owner = agent && { ...agent, notes: i === 0 ? agent.notes : [] }
    return [
      inputLines(turn.asked, isLast ? maxInputLines : maxEarlierLines, style),
      owner && node ? renderTurn(owner, node, { ...style, moment, maxLines }) : [],
      isLast ? answerLines(outcome, style) : earlierAnswer(turn, style),
    ]
  })
}

const inputLines = (asked: string, maxLines: number, style: ReportStyle): readonly string[] =>
  section('Input', asked, { ...style, maxLines })

function answerLines({ report, status }: Outcome, style: ReportStyle): readonly string[] {
  const title = status === 'completed' ? 'Answer' : status === 'partial' ? 'Partial answer' : 'Text so far'
  return section(title, report?.text ?? '', { ...style, maxLines: Number.POSITIVE_INFINITY })
}

const earlierAnswer = ({ report }: LoadedTurn, style: ReportStyle): readonly string[] =>
  section('Answer', report?.text ?? '', { ...style, maxLines: maxEarlierLines })

function section(
  title: string,
  text: string,
  { paint, width, isWindow, maxLines }: ReportStyle & { readonly maxLines: number },
): readonly string[] {
  if (text.trim() === '') return []
  const room = isWindow ? width - 1 - indent.length : Number.POSITIVE_INFINITY
  return [paint('bold', title), ...replyLines(text, { width: room, maxLines }).map((line) => `${indent}${line}`.trimEnd())]
}

function callBlock({ events, run, fileOf }: LoadedSession, { place, paint, width, isWindow }: ReportStyle): readonly string[] {
  const lines = callLines(events, { fileOf, width: isWindow ? width - 1 : Number.POSITIVE_INFINITY })
  if (lines.length === 0) return []
  const whole = `troupe sessions show ${run.treeId} --stream-json${dataDirFlag(place.dataDir)}`
  return [paint('bold', 'Calls'), ...lines, `${indent}Complete events: ${whole}`]
}

function diagnosticLines(diagnostics: readonly Diagnostic[], { paint }: ReportStyle): readonly string[] {
  const all = countRepeats(diagnostics)
  if (all.length === 0) return []
  const left = all.length - maxDiagnostics
  return [
    paint('bold', 'Diagnostics'),
    ...all
      .slice(0, maxDiagnostics)
      .flatMap(([{ code, severity, message, remedy }, times]) => [
        `${indent}${paint(severity === 'error' ? 'red' : 'yellow', code)}: ${printable(message)}${times > 1 ? paint('dim', ` (${times} times)`) : ''}`,
        ...(remedy === undefined ? [] : [`${indent}${indent}${paint('cyan', '→')} ${printable(remedy)}`]),
      ]),
    ...(left > 0 ? [`${indent}${paint('dim', `⋯ ${left} more`)}`] : []),
  ]
}
