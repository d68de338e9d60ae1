import type { Plan } from '../../contracts/index.ts'
import { type AgentNode, lastTurn, type RunTree, type SessionNodes, type StepNode, type TurnNode } from '../../view/index.ts'
import { replyLines } from '../terminal/markdown/render-markdown.ts'
import type { Paint } from '../terminal/paint.ts'
import { printable } from '../terminal/printable.ts'
import { fitWidth, widthOf } from '../terminal/text-width.ts'
import { linesOf } from './tree/layout.ts'
import { planText } from './tree/leaf-rows.ts'
import { turnRow } from './tree/turn-rows.ts'

interface View {
  readonly paint: Paint
  readonly width: number
}

/** For all steps before the one that asks. */
const maxEarlierLines = 8
const maxTextLines = 12

/**
 * Lines above a question while the frame is hidden: the steps of the asking agent since the last question, a changed plan,
 * and the text beside its calls. Nothing is shown twice.
 */
export class MessageLines {
  readonly #shown = new WeakSet<StepNode>()
  readonly #plans = new WeakMap<TurnNode, Plan>()

  next({ sessions }: RunTree, view: View): readonly string[] {
    return [...sessions.values()].flatMap((session) => {
      const turn = lastTurn(session)
      return turn?.steps.some(({ requests }) => requests.size > 0) ? this.#ofTurn(session, turn, view) : []
    })
  }

  #ofTurn({ agent }: SessionNodes, turn: TurnNode, { paint, width }: View): readonly string[] {
    const label = agent.label === '' ? '' : `${printable(agent.label)} │ `
    const view = { paint, width: Math.max(1, width - widthOf(label)) }
    const steps = turn.steps.filter((step) => !this.#shown.has(step))
    const blocks = steps.map((step) => stepLines({ agent, turn, step }, view))
    for (const step of steps) this.#shown.add(step)
    const before = blocks.slice(0, -1).flat()
    const cut = before.length > maxEarlierLines ? [paint('dim', '⋯'), ...before.slice(-maxEarlierLines)] : before
    const lines = [...cut, ...this.#plan(turn, view), ...(blocks.at(-1) ?? [])]
    return lines.map((line) => `${paint('dim', fitWidth(label, Math.min(width, widthOf(label))))}${line}`)
  }

  #plan(turn: TurnNode, { paint, width }: View): readonly string[] {
    const { plan } = turn
    if (!plan || this.#plans.get(turn) === plan) return []
    this.#plans.set(turn, plan)
    const now = plan.steps.find(({ status }) => status === 'in_progress')
    const text = `plan  ${planText(plan)}${now ? ` · now: ${printable(now.step)}` : ''}`
    return [`${paint('cyan', '☰')} ${paint('dim', fitWidth(text, Math.min(width - 2, widthOf(text))))}`]
  }
}

interface StepPlace {
  readonly agent: AgentNode
  readonly turn: TurnNode
  readonly step: StepNode
}

/** A step with its text and calls, without its open requests. */
function stepLines({ agent, turn, step }: StepPlace, { paint, width }: View): readonly string[] {
  const { plan: _, ...rest } = turn
  // The model is named only when it changes, which needs the step before.
  const before = turn.steps.slice(0, turn.steps.indexOf(step)).slice(-1)
  const alone = { ...rest, steps: [...before, { ...step, requests: new Map(), notes: [] }] }
  const { children } = turnRow({ ...agent, notes: [] }, alone, { kind: 'final' })
  const [head = '', ...calls] = children.slice(-1).flatMap((branch) => linesOf(branch, { paint, width }))
  const words = replyLines(step.words ?? '', { width: width - bar.length, maxLines: maxTextLines })
  const text = step.words === undefined ? [] : words.map((line) => `${paint('dim', line === '' ? bar.trimEnd() : bar)}${line}`)
  return [head, ...text, ...calls]
}
const bar = '│  '
