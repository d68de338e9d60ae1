import type { Message, Plan, SessionId } from '../../contracts/index.ts'
import {
  type AgentNode,
  type CallNode,
  childrenOf,
  type MessageNode,
  type NodeId,
  type RequestNode,
  type StepNode,
  type TextNode,
  type TurnNode,
} from '../../view/index.ts'
import { personWords } from './person-words.ts'

// What a conversation shows, in which order.

/** `queued`: begins the next turn. `steers`: enters the next step. `held`: an interrupt found it unread; a person sends it. */
export type MessageState = 'read' | 'queued' | 'steers' | 'held'

export type ConversationItem =
  | { readonly kind: 'forked'; readonly id: string; readonly from: SessionId }
  | { readonly kind: 'imported'; readonly id: string; readonly message: Message }
  | { readonly kind: 'message'; readonly id: string; readonly message: MessageNode; readonly state: MessageState }
  | { readonly kind: 'turn'; readonly id: string; readonly turn: TurnNode }

/** Messages to an agent and its turns. Messages that steer are part of the step that they entered. */
export function conversationItems({ id, forkedFrom, history, messages, turns, holdsMessages }: AgentNode): readonly ConversationItem[] {
  const items: ConversationItem[] = []
  if (forkedFrom !== undefined) items.push({ kind: 'forked', id: `${id}/forked`, from: forkedFrom })
  for (const [index, message] of history.entries())
    if (message.role !== 'tool') items.push({ kind: 'imported', id: `${id}/history/${index}`, message })
  const unread = new Map(messages.map((message) => [message.id, message]))
  for (const turn of turns) {
    for (const input of turn.inputs) {
      const message = unread.get(input)
      if (message) items.push({ kind: 'message', id: input, message, state: 'read' })
      unread.delete(input)
    }
    for (const { absorbed } of turn.steps) for (const input of absorbed) unread.delete(input)
    if (!isEmpty(turn)) items.push({ kind: 'turn', id: turn.id, turn })
  }
  const isOpen = ['running', 'suspended'].includes(turns.at(-1)?.status ?? '')
  const stateOf = ({ mode }: MessageNode): MessageState => {
    if (holdsMessages) return 'held'
    return isOpen ? (mode === 'steer' ? 'steers' : 'queued') : 'read'
  }
  for (const message of unread.values()) items.push({ kind: 'message', id: message.id, message, state: stateOf(message) })
  return items
}

/** A copy of a session that begins before its first message has a turn in which nothing happened. */
const isEmpty = ({ status, steps, inputs }: TurnNode): boolean => status === 'interrupted' && steps.length === 0 && inputs.length === 0

export type StepPart =
  | { readonly kind: 'text'; readonly id: NodeId; readonly text: TextNode }
  | { readonly kind: 'call'; readonly id: NodeId; readonly call: CallNode }
  | { readonly kind: 'plan'; readonly id: NodeId; readonly plan: Plan }
  /** Agents that were called in a row: they work side by side. */
  | { readonly kind: 'children'; readonly id: NodeId; readonly calls: readonly CallNode[] }
  /** An agent that talks to the person, or did. */
  | { readonly kind: 'handoff'; readonly id: NodeId; readonly call: CallNode; readonly child: AgentNode }

/** Texts and calls of a step in the order in which the model wrote them, those that are shown. `plan`: the one that it made. */
export function stepParts({ id, texts, calls }: StepNode, { from = 0, to }: Partial<ShownStep> = {}, plan?: Plan): readonly StepPart[] {
  const all = [...texts.map((text) => ({ id: text.id, text })), ...calls.map((call) => ({ id: call.id, call }))]
  const parts: StepPart[] = []
  let planPart: StepPart | undefined = plan && { kind: 'plan', id: `${id}/plan`, plan }
  for (const each of all.toSorted((a, b) => placeOf(a.id) - placeOf(b.id)).slice(from, to)) {
    const before = parts.at(-1)
    if ('text' in each) {
      if (each.text.text.trim() !== '') parts.push({ kind: 'text', ...each })
    } else if (each.call.speaks !== undefined && each.call.child) parts.push({ kind: 'handoff', ...each, child: each.call.child })
    else if (!each.call.isAgent) {
      if (!isPlanUpdate(each.call)) parts.push({ kind: 'call', ...each })
      else if (planPart) parts.push(planPart)
      if (isPlanUpdate(each.call)) planPart = undefined
    } else if (before?.kind === 'children') parts[parts.length - 1] = { ...before, calls: [...before.calls, each.call] }
    else parts.push({ kind: 'children', id: each.id, calls: [each.call] })
  }
  return planPart ? [planPart, ...parts] : parts
}

/** Items of a step are numbered in their order. */
const placeOf = (id: NodeId): number => Number(id.slice(id.lastIndexOf('.') + 1)) || 0

export const planTool = 'update_plan'

/** Its effect is the plan that is shown, unless it failed. */
const isPlanUpdate = ({ tool, status }: CallNode): boolean => tool === planTool && status !== 'failed'

export const planStep = ({ plan, steps }: TurnNode): StepNode | undefined =>
  plan && (steps.find(({ calls }) => calls.some(isPlanUpdate)) ?? steps[0])

/** Which operations of a turn are shown: `limit` of them before `to`. Without `to` the last ones, also when more come. */
export interface ShownRange {
  readonly limit: number
  readonly to?: number
}

/** A step of which the operations from `from` to before `to` are shown. It is infinite if those that come later are shown, too. */
export interface ShownStep {
  readonly step: StepNode
  readonly from: number
  readonly to: number
}

/** Nothing but calls happened, all of them have ended, and nobody has to look at them. Its thoughts are folded with them. */
export function isQuiet(step: StepNode): boolean {
  const { texts, calls, open, requests, attempts, notes, rejected, last, absorbed } = step
  if (open.size + requests.size > 0) return false
  if (quiet.has(step)) return true
  const isAlone = notes.length + absorbed.length === 0 && !rejected && last === undefined
  const isQuietNow =
    isAlone &&
    calls.length > 0 &&
    texts.every(({ type, text, isOpen }) => !isOpen && (type === 'reasoning' || text.trim() === '')) &&
    attempts.every(({ failure, latencyMs }) => !failure && latencyMs !== undefined) &&
    calls.every(
      (call) =>
        !call.isAgent &&
        call.tool !== planTool &&
        !call.child &&
        call.status !== 'running' &&
        call.status !== 'waiting' &&
        !personWords(call),
    )
  if (isQuietNow) quiet.add(step)
  return isQuietNow
}

/** Only calls that start change a step that has ended. */
const quiet = new WeakSet<StepNode>()

/** A step that can be folded takes no room. */
const operationsOf = (step: StepNode): number => (isQuiet(step) ? 0 : step.texts.length + step.calls.length)
const countOf = (steps: readonly StepNode[]): number => steps.reduce((sum, step) => sum + operationsOf(step), 0)

/** The steps of a turn that are shown, and how many operations come before and after them. */
export function shownSteps(
  { steps }: TurnNode,
  { limit, to }: ShownRange,
): { shown: readonly ShownStep[]; earlier: number; later: number } {
  const total = countOf(steps)
  const end = Math.min(to ?? total, total)
  const earlier = Math.max(0, end - limit)
  const shown: ShownStep[] = []
  let at = 0
  for (const step of steps) {
    const count = operationsOf(step)
    const isInside = at + count > earlier && at < end
    // A step without operations may have failed.
    if (count === 0 && at >= earlier && at <= end) shown.push({ step, from: 0, to: Number.POSITIVE_INFINITY })
    else if (isInside)
      shown.push({ step, from: Math.max(0, earlier - at), to: to === undefined ? Number.POSITIVE_INFINITY : Math.min(count, end - at) })
    at += count
  }
  return { shown, earlier, later: total - end }
}

/** A range in which an operation of a step is. The known one, if it is. */
export function rangeWith({ steps }: TurnNode, { step, call }: Pick<NodePlace, 'step' | 'call'>, known: ShownRange): ShownRange {
  if (!step) return known
  const total = countOf(steps)
  const inStep = call && !isQuiet(step) ? step.texts.length + step.calls.indexOf(call) : 0
  const at = countOf(steps.slice(0, steps.indexOf(step))) + inStep
  const end = known.to ?? total
  if (at >= end - known.limit && at < end) return known
  // A step that takes no room may be at the end.
  if (at === end && isQuiet(step)) return known
  const back = total - at
  return back <= mostAtOnce
    ? { limit: Math.max(back, known.to === undefined ? known.limit : 0) }
    : { limit: mostAtOnce / 2, to: at + mostAtOnce / 4 }
}

/** So many operations may be added to find one. */
const mostAtOnce = 240

/** The way to a node: the agents, turns and steps that contain it, from the root. */
interface NodePlace {
  readonly turn: TurnNode
  readonly step?: StepNode
  /** The call that is the node, or that contains it. */
  readonly call?: CallNode
}

export function placesOf(agent: AgentNode, id: NodeId): readonly NodePlace[] | undefined {
  for (const turn of agent.turns) {
    if (turn.id === id) return [{ turn }]
    for (const step of turn.steps) {
      if (step.id === id || step.texts.some((text) => text.id === id) || step.absorbed.includes(id)) return [{ turn, step }]
      for (const call of step.calls) {
        if (call.id === id || call.child?.id === id) return [{ turn, step, call }]
        for (const child of childrenOf(call)) {
          const below = child.messages.some((message) => message.id === id) ? [] : placesOf(child, id)
          if (below) return [{ turn, step, call }, ...below]
        }
      }
    }
  }
  return undefined
}

/** Requests of an agent and of those below it that wait for a person. */
export function openRequests({ turns }: AgentNode): readonly RequestNode[] {
  const steps = turns.at(-1)?.steps ?? []
  return steps.flatMap(({ requests, calls }) => [
    ...requests.values(),
    ...calls.flatMap((call) => (call.child ? openRequests(call.child) : [])),
  ])
}

export function neededBy(agent: AgentNode): 'approval' | 'answer' | undefined {
  const [first] = openRequests(agent)
  return first && (first.scope === 'question' ? 'answer' : 'approval')
}

/** The last words of an agent in one line: its answer, or what it does. */
export function lastLine({ turns }: AgentNode): string {
  const turn = turns.at(-1)
  const step = turn?.steps.findLast(({ texts, calls }) => texts.length > 0 || calls.length > 0)
  const call = step?.calls.findLast(({ status }) => status === 'running')
  if (turn?.report) return oneLine(turn.report.text)
  if (call && turn?.status === 'running') return oneLine(`${call.name} ${call.progress ?? call.about}`)
  // The end is what is being written.
  const text = oneLine(step?.texts.at(-1)?.text.slice(-longestLine) ?? '')
  return turn?.status === 'running' && text.length > 80 ? `…${text.slice(-80)}` : text
}

const longestLine = 400

/** Without the marks of markdown. */
export const oneLine = (text: string): string =>
  text
    .slice(0, longestLine)
    .replace(/[*`]+/g, '')
    .replace(/[#>|\s]+/g, ' ')
    .trim()

/** The answer of a turn, as it is copied and announced. */
export function answerOf({ report, steps }: TurnNode): string {
  const texts = (steps.at(-1)?.texts ?? []).filter(({ type }) => type === 'agent_message').map(({ text }) => text)
  return report?.text ?? texts.join('\n\n')
}
