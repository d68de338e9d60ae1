import type { ApprovalDecision } from '../../../contracts/index.ts'
import { agentFileOf, type CommandPlace, resumeHint } from '../../../project/index.ts'
import { timeText } from '../../../view/index.ts'
import { printable } from '../../terminal/printable.ts'
import { answerSummary, decisionText } from '../asking/answer-choices.ts'
import type { QuestionStyle } from '../asking/question-details.ts'
import { questionLines } from '../asking/question-lines.ts'
import { answerCommand } from './next-commands.ts'
import type { WaitingRequest, WaitingSession } from './waiting-requests.ts'

const indent = '  '

/** A waiting session: its requests, and the commands that answer them and resume it. Pure. */
export function waitingLines(waiting: WaitingSession, place: CommandPlace, style: QuestionStyle): readonly string[] {
  const { run, origin, requests, driver } = waiting
  const { paint } = style
  const where = origin ? `${agentFileOf(origin)} in ${origin.workspace} · ` : ''
  const isOnly = requests.filter(({ answer }) => !answer).length === 1
  return [
    `${run.treeId}  ${printable(run.agent)}  ${paint('dim', printable(`${where}since ${timeText(waitingSince(waiting))} · “${run.title}”${processText(waiting)}`))}`,
    ...requests.flatMap((each) =>
      each.answer
        ? [answeredLine(each, each.answer, style)]
        : [
            ...requestLines(each, style),
            `${indent}${indent}${answerCommand(isOnly ? run.treeId : each.request.id, each.request, place.dataDir)}`,
          ],
    ),
    ...(driver === undefined ? [`${indent}${resumeHint(waiting, place)}`] : []),
  ]
}

const waitingSince = ({ run, requests }: Pick<WaitingSession, 'run' | 'requests'>): number =>
  requests.length === 0 ? run.updatedAt : Math.min(...requests.map(({ at }) => at))

function processText({ run, driver }: WaitingSession): string {
  if (driver !== undefined) return ` · running: ${driver}`
  return run.status === 'running' ? ' · its process has exited' : ''
}

/** Complete, as at a terminal: a request must not be approved unseen. */
const requestLines = ({ request, agentPath }: WaitingRequest, { paint, width }: QuestionStyle): readonly string[] =>
  questionLines({ request, label: labelOf(agentPath) }, { paint, width: width - indent.length }).map((line) => `${indent}${line}`)

function answeredLine({ request, agentPath }: WaitingRequest, answer: ApprovalDecision, { paint }: QuestionStyle): string {
  const label = labelOf(agentPath)
  const what = `${label === '' ? '' : `${printable(label)} · `}${answerSummary(request, answer)}`
  return `${indent}${paint('green', '✓')} ${decisionText[answer.kind]}: ${what}  ${paint('dim', printable(request.tool))}`
}

const labelOf = (agentPath: string): string => (agentPath === 'root' ? '' : agentPath.replace(/^root\//, ''))
