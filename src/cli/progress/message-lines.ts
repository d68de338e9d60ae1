import type { Plan } from '../../contracts/index.ts'
import { type AgentNode, lastTurn, type RunTree, type SessionNodes, type StepNode, type TurnNode } from '../../view/index.ts'
import { fitWidth, type Paint, printable, widthOf } from '../terminal/paint.ts'
import { linesOf } from '../tree/layout.ts'
import { planText } from '../tree/leaf-rows.ts'
import { turnRow } from '../tree/turn-rows.ts'
import { replyLines } from './text-lines.ts'

interface View {
  readonly paint: Paint
  /** Columns that a line may take. */
  readonly width: number
}

/** Of steps before the one that asks, together. */
const maxEarlierLines = 8
const maxTextLines = 12

/**
 * What a person needs to see above a question, while the picture is gone: of whoever asks, the steps since the last
 * question, the plan where it has changed, and what the model has said beside its calls. Nothing is shown twice.
 */
export class MessageLines {
  readonly #shown = new WeakSet<StepNode>()
  readonly #plans = new WeakMap<TurnNode, Plan>()

  /** The lines for those who wait at this moment. */
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
    const told = steps.map((step) => stepLines({ agent, turn, step }, view))
    for (const step of steps) this.#shown.add(step)
    const before = told.slice(0, -1).flat()
    const cut = before.length > maxEarlierLines ? [paint('dim', '⋯'), ...before.slice(-maxEarlierLines)] : before
    const lines = [...cut, ...this.#plan(turn, view), ...(told.at(-1) ?? [])]
    return lines.map((line) => `${paint('dim', fitWidth(label, Math.min(width, widthOf(label))))}${line}`)
  }

  #plan(turn: TurnNode, { paint, width }: View): readonly string[] {
    const { plan } = turn
    if (!plan || this.#plans.get(turn) === plan) return []
    this.#plans.set(turn, plan)
    const now = plan.steps.find(({ status }) => status === 'in_progress')
    const told = `plan  ${planText(plan)}${now ? ` · now: ${printable(now.step)}` : ''}`
    return [`${paint('cyan', '☰')} ${paint('dim', fitWidth(told, Math.min(width - 2, widthOf(told))))}`]
  }
}

interface StepPlace {
  readonly agent: AgentNode
  readonly turn: TurnNode
  readonly step: StepNode
}

/** A step with what was said in it, and its calls as they stand; without what is about to be asked. */
function stepLines({ agent, turn, step }: StepPlace, { paint, width }: View): readonly string[] {
  const { plan: _, ...rest } = turn
  // A model is named only where it is another one than before.
  const before = turn.steps.slice(0, turn.steps.indexOf(step)).slice(-1)
  const alone = { ...rest, steps: [...before, { ...step, requests: new Map(), notes: [] }] }
  const { children } = turnRow({ ...agent, notes: [] }, alone, { kind: 'final' })
  const [head = '', ...calls] = children.slice(-1).flatMap((branch) => linesOf(branch, { paint, width }))
  const words = replyLines(step.words ?? '', { width: width - bar.length, most: maxTextLines })
  const said = step.words === undefined ? [] : words.map((line) => `${paint('dim', line === '' ? bar.trimEnd() : bar)}${line}`)
  return [head, ...said, ...calls]
}
const bar = '│  '
