import type { InteractionEvent, ItemDelta } from '../../contracts/index.ts'
import { lastTurn, type SessionNodes, type StepNode } from './nodes.ts'

type StepEvent = InteractionEvent<'interaction.step.started' | 'interaction.step.completed' | 'interaction.step.failed'>

/** Takes in how far a step is. */
export function takeStep(session: SessionNodes, event: StepEvent): void {
  const step = stepOf(session, event.stepId)
  if (!step) return
  delete step.said
  if (event.type === 'interaction.step.started') {
    const { attempt: number, model, reservation } = event
    delete step.words
    delete step.refused
    step.attempts.push({ number, model, span: { from: event.at, to: event.at }, expected: reservation.input, characters: 0 })
    if (event.last) step.last = event.last.reason
    return
  }
  const attempt = step.attempts.at(-1)
  if (!attempt) return
  const { latencyMs, usage, cost, at } = event
  Object.assign(attempt, { latencyMs, usage, cost, span: { from: Math.max(attempt.span.from, at - latencyMs), to: at } })
  if (event.type === 'interaction.step.completed') {
    if (event.output?.ok === false) step.refused = { problems: event.output.problems, text: step.words ?? '' }
    // What is said without calls is the answer, which is told elsewhere.
    if (!event.reply.some(({ type }) => type === 'call')) delete step.words
    return
  }
  attempt.failure = event.failure
  if (event.delayMs > 0 && attempt.number <= session.agent.maxRetries) attempt.nextAt = at + event.delayMs
}

/** Of a text this much is kept, at least; it is cut rarely, so that what is shown does not jump. */
const keptCharacters = 2_000

/** What is only worth seeing while it happens. */
export function takeLive(session: SessionNodes, { stepId, itemId, attempt: number, kind, text }: ItemDelta): void {
  if (kind === 'progress' || kind === 'output') {
    const call = session.calls.get(itemId)
    if (call && kind === 'progress' && text !== '') call.progress = text
    if (call && kind === 'output') call.output = tail(`${call.output ?? ''}${text}`)
    return
  }
  const step = session.steps.get(stepId)
  const attempt = step?.attempts.at(-1)
  // What an attempt said that has been given up is nothing to show.
  if (!step || !attempt || attempt.number !== number || attempt.latencyMs !== undefined) return
  attempt.characters += text.length
  if (step.said?.kind !== kind) step.said = { kind, text }
  else step.said.text = tail(step.said.text + text)
}

const tail = (text: string): string => (text.length > 2 * keptCharacters ? text.slice(-keptCharacters) : text)

/** What the model has said in full, until it is known whether calls come with it. */
export function takeWords(session: SessionNodes, text: string, stepId: string | undefined): void {
  const step = stepOf(session, stepId)
  if (!step || text.trim() === '') return
  step.words = (step.words === undefined ? text : `${step.words}\n${text}`).slice(0, 2 * keptCharacters)
}

/** A step by its id; one that was never heard of is the next one. */
export function stepOf(session: SessionNodes, stepId = ''): StepNode | undefined {
  const known = session.steps.get(stepId)
  const turn = lastTurn(session)
  if (known || !turn) return known
  const step: StepNode = { number: turn.steps.length + 1, attempts: [], calls: [], open: new Set(), requests: new Map(), notes: [] }
  session.steps.set(stepId, step)
  turn.steps.push(step)
  return step
}
