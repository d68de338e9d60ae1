import type { InteractionEvent, ItemDelta, QueueEvent } from '../contracts/index.ts'
import { lastTurn, markChanged, type SessionNodes, type StepNode, type TextNode } from './nodes.ts'

type StepEvent = InteractionEvent<'interaction.step.started' | 'interaction.step.completed' | 'interaction.step.failed'>

export function applyStep(session: SessionNodes, event: StepEvent): void {
  const step = stepOf(session, event.stepId)
  if (!step) return
  markChanged(session, step)
  delete step.streamed
  if (event.type === 'interaction.step.started') {
    const { attempt: number, model, modelId, reservation } = event
    delete step.words
    delete step.rejected
    dropOpenTexts(step)
    // A further attempt absorbs only what is new.
    if (event.absorbs.length > 0) step.absorbed = [...step.absorbed, ...event.absorbs]
    step.attempts.push({ number, model, modelId, span: { from: event.at, to: event.at }, expected: reservation.input, characters: 0 })
    if (event.last) step.last = event.last.reason
    return
  }
  const attempt = step.attempts.at(-1)
  if (!attempt) return
  const { latencyMs, usage, cost, at } = event
  Object.assign(attempt, { latencyMs, usage, cost, span: { from: Math.max(attempt.span.from, at - latencyMs), to: at } })
  dropOpenTexts(step)
  if (event.type === 'interaction.step.completed') {
    if (event.firstTokenMs !== undefined) attempt.firstTokenMs = event.firstTokenMs
    if (event.output?.ok === false) step.rejected = { problems: event.output.problems, text: step.words ?? '' }
    // A text without calls is the answer, which is shown elsewhere.
    if (!event.reply.some(({ type }) => type === 'call')) delete step.words
    return
  }
  attempt.failure = event.failure
  if (event.delayMs > 0 && attempt.number <= session.agent.maxRetries) attempt.nextAt = at + event.delayMs
}

/** The least that is kept of a streamed text. It is cut rarely, so that the visible part does not jump. */
const keptCharacters = 2_000

export function applyDelta(session: SessionNodes, { stepId, itemId, attempt: number, kind, text, offset }: ItemDelta): void {
  if (kind === 'progress' || kind === 'output') {
    const call = session.calls.get(itemId)
    if (call && kind === 'progress' && text !== '') call.progress = text
    // A reader that reconnects gets everything again, from 0.
    if (call && kind === 'output') call.output = tail(offset === 0 ? text : `${call.output ?? ''}${text}`)
    markChanged(session, call)
    return
  }
  const step = session.steps.get(stepId)
  const attempt = step?.attempts.at(-1)
  // The text of an attempt that was given up is not shown.
  if (!step || !attempt || attempt.number !== number || attempt.latencyMs !== undefined) return
  attempt.characters += text.length
  if (session.tree.keepsContent) {
    streamText(
      step,
      { id: `${session.agent.id}/${itemId}`, type: kind === 'text' ? 'agent_message' : 'reasoning', text, isOpen: true },
      offset,
    )
    markChanged(session, step)
    return
  }
  if (step.streamed?.kind !== kind) step.streamed = { kind, text }
  else step.streamed.text = tail(step.streamed.text + text)
  markChanged(session, step)
}

/** The part before `offset` is known; what was known after it is replaced. */
function streamText(step: StepNode, piece: TextNode, offset: number): void {
  const known = step.texts.find(({ id }) => id === piece.id)
  if (!known) step.texts.push(piece)
  else if (known.isOpen) known.text = (known.text.length === offset ? known.text : known.text.slice(0, offset)) + piece.text
}

/** Replaces what was streamed of it. */
export function completeText(step: StepNode, text: TextNode): void {
  const index = step.texts.findIndex(({ id }) => id === text.id)
  if (index === -1) step.texts.push(text)
  else step.texts[index] = text
}

/** Drops the open texts of an attempt that failed. */
function dropOpenTexts({ texts }: StepNode): void {
  texts.splice(0, texts.length, ...texts.filter(({ isOpen }) => !isOpen))
}

const tail = (text: string): string => (text.length > 2 * keptCharacters ? text.slice(-keptCharacters) : text)

/** A complete text of the model, before it is known whether calls come with it. */
export function addWords(step: StepNode, text: string): void {
  if (text.trim() !== '') step.words = (step.words === undefined ? text : `${step.words}\n${text}`).slice(0, 2 * keptCharacters)
}

/** A step by its id; an unknown id is the next step. */
export function stepOf(session: SessionNodes, stepId = ''): StepNode | undefined {
  const known = session.steps.get(stepId)
  const turn = lastTurn(session)
  if (known || !turn) return known
  const id = `${session.agent.id}/${stepId}`
  const number = turn.steps.length + 1
  const step: StepNode = { id, number, attempts: [], calls: [], open: new Set(), requests: new Map(), notes: [], texts: [], absorbed: [] }
  session.steps.set(stepId, step)
  turn.steps.push(step)
  markChanged(session, turn)
  return step
}

/** A call, or the next model request of a turn, joins or leaves a queue. */
export function applyQueue(session: SessionNodes, { type, itemId, queue, since }: QueueEvent): void {
  const waiting = itemId === undefined ? lastTurn(session) : session.calls.get(itemId)
  if (type === 'interaction.queue.joined') {
    if (waiting) waiting.inQueue = { queue, since }
  } else delete waiting?.inQueue
  markChanged(session, waiting)
}
