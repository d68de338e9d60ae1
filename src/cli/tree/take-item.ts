import type { CallIntent, CallRecord, InteractionEvent, Lane } from '../../contracts/index.ts'
import { laneConflict } from '../../core/index.ts'
import { widthOf } from '../paint.ts'
import { changesOf, exitCodeOf, permitOf } from './call-view.ts'
import { wordsOf } from './call-words.ts'
import { callName } from './join-session.ts'
import { type CallNode, type HookNode, lastTurn, type SessionNodes, type StepNode } from './nodes.ts'
import { stepOf, takeWords } from './take-step.ts'

type ItemEvent = InteractionEvent<'interaction.item.started' | 'interaction.item.updated' | 'interaction.item.completed'>

/** Takes in a call, a plan, or what was said. */
export function takeItem(session: SessionNodes, event: ItemEvent): void {
  if (event.type === 'interaction.item.updated') {
    takeUpdate(session, event)
    return
  }
  const { item, at } = event
  const turn = lastTurn(session)
  if (item.kind === 'plan') {
    if (turn) turn.plan = item.plan
    return
  }
  if (item.kind === 'text') {
    if ('text' in item && item.type === 'agent_message' && item.status === 'completed') takeWords(session, item.text, event.stepId)
    return
  }
  const step = stepOf(session, event.stepId)
  if (!step) return
  if ('tool' in item) startCall(session, step, { item, at })
  else endCall(session, step, { item, at })
  admit(step, session.agent.parallelCalls, at)
}

function startCall(session: SessionNodes, step: StepNode, { item, at }: { readonly item: CallIntent; readonly at: number }): void {
  const { id, tool, lane, type } = item
  const permit = permitOf(item)
  const isAgent = type === 'subagent_call'
  const asked = [...session.requests.values()].find(({ itemId, scope }) => itemId === id && scope !== 'unsandboxed')
  const call: CallNode = {
    tool,
    name: callName(tool, isAgent),
    ...wordsOf(item, asked),
    lane,
    place: placeOf(id),
    isAgent,
    span: { from: at, to: at },
    status: 'waiting',
    walls: { kind: 'usual' },
    hooks: hooksOf(session, id),
    ...(permit && { permit }),
  }
  session.calls.set(id, call)
  step.calls.push(call)
  if (permit) addInOrder(step.open, call)
  else step.open.add(call)
  const turn = lastTurn(session)
  if (turn) turn.widestTool = Math.max(turn.widestTool, widthOf(call.name))
}

/** A list that goes on: hooks may look at a call before and after it. */
function hooksOf({ hooks }: SessionNodes, id: string): readonly HookNode[] {
  const known = hooks.get(id) ?? []
  hooks.set(id, known)
  return known
}

function endCall(session: SessionNodes, step: StepNode, { item, at }: { readonly item: CallRecord; readonly at: number }): void {
  // Nobody need answer any more.
  for (const [id, { itemId }] of step.requests) if (itemId === item.id) step.requests.delete(id)
  const call = session.calls.get(item.id)
  if (!call) return
  const { latencyMs, status, error } = item
  step.open.delete(call)
  // Intents of a step are committed together; when a call really began follows from how long it took.
  const from = call.child ? call.span.from : at - latencyMs
  const exitCode = exitCodeOf(item)
  Object.assign(call, { latencyMs, status, span: { from, to: at }, changes: changesOf(item) }, error && { error })
  if (exitCode !== undefined) call.exitCode = exitCode
  delete call.output
  delete call.inLine
}

function takeUpdate(session: SessionNodes, { update, itemId }: InteractionEvent<'interaction.item.updated'>): void {
  const turn = lastTurn(session)
  if (update.kind === 'plan') {
    if (turn) turn.plan = update.plan
    return
  }
  const call = session.calls.get(itemId ?? '')
  if (!call || update.reason !== 'unsandboxed') return
  call.walls = { kind: 'outside', by: update.by ?? ('by' in call.walls ? call.walls.by : '') }
  // What it printed inside is not what it prints now.
  delete call.output
}

/** Item ids of a step end in a number that grows with each call. */
const placeOf = (itemId: string): number => Number(itemId.slice(itemId.lastIndexOf('.') + 1))

/** A call that had to be approved starts after calls that come later. */
function addInOrder(open: Set<CallNode>, call: CallNode): void {
  const later = [...open].filter(({ place }) => place > call.place)
  for (const each of later) open.delete(each)
  for (const each of [call, ...later]) open.add(each)
}

const exclusive: Lane = { kind: 'exclusive' }

/** No event tells when a call leaves its queue, but who may overlap with whom is known. */
function admit({ open, requests }: StepNode, most: number, at: number): void {
  const asked = [...requests.values()].filter(({ scope }) => scope !== 'unsandboxed')
  const isBehind = ({ lane, place }: CallNode): boolean =>
    asked.some((each) => placeOf(each.itemId) < place && laneConflict(each.lane ?? exclusive, lane))
  const before: CallNode[] = []
  let running = 0
  for (const call of open) {
    if (running >= most) return
    if (call.status === 'waiting' && !isBehind(call) && !before.some(({ lane }) => laneConflict(lane, call.lane))) {
      call.status = 'running'
      call.span = { from: at, to: at }
    }
    if (call.status === 'running') running++
    before.push(call)
  }
}
