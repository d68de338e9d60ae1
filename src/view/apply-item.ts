import { type CallIntent, type CallRecord, clientNameOf, type InteractionEvent, type Lane } from '../contracts/index.ts'
import { laneConflict } from '../core/index.ts'
import { addWords, completeText, stepOf } from './apply-step.ts'
import { changesOf, exitCodeOf, permitOf } from './call-result.ts'
import { callSummary } from './call-summary.ts'
import { callName } from './join-session.ts'
import { type CallNode, countFailure, type HookNode, lastStep, lastTurn, markChanged, type SessionNodes, type StepNode } from './nodes.ts'

type ItemEvent = InteractionEvent<'interaction.item.started' | 'interaction.item.updated' | 'interaction.item.completed'>

/** Applies an event of a call, a plan or a text. */
export function applyItem(session: SessionNodes, event: ItemEvent): void {
  if (event.type === 'interaction.item.updated') {
    applyUpdate(session, event)
    return
  }
  const { item, at } = event
  if (item.kind === 'plan') {
    setPlan(session, item.plan)
    return
  }
  // An error is part of its attempt.
  if (item.kind === 'text' && (!('text' in item) || item.type === 'error')) return
  const step = stepOf(session, event.stepId)
  if (!step) return
  if (item.kind === 'text') {
    if (item.type === 'agent_message' && item.status === 'completed') addWords(step, item.text)
    if (session.tree.keepsContent) completeText(step, { id: nodeId(session, item.id), type: item.type, text: item.text, isOpen: false })
    markChanged(session, step)
    return
  }
  if ('tool' in item) startCall(session, step, { item, at })
  else endCall(session, step, { item, at })
  startWaitingCalls(session, step, at)
}

const nodeId = ({ agent }: SessionNodes, itemId: string): string => `${agent.id}/${itemId}`

function setPlan(session: SessionNodes, plan: NonNullable<ReturnType<typeof lastTurn>>['plan']): void {
  const turn = lastTurn(session)
  if (!turn || !plan) return
  turn.plan = plan
  markChanged(session, turn)
}

function startCall(session: SessionNodes, step: StepNode, { item, at }: { readonly item: CallIntent; readonly at: number }): void {
  const { id, tool, lane, type } = item
  const permit = permitOf(item)
  const isAgent = type === 'subagent_call'
  const asked = [...session.requests.values()].filter(({ itemId }) => itemId === id)
  const call: CallNode = {
    id: nodeId(session, id),
    type,
    tool,
    name: clientToolName(item) ?? serverToolName(item) ?? callName(tool, isAgent),
    ...callSummary(
      item,
      asked.find(({ scope }) => scope !== 'unsandboxed'),
    ),
    lane,
    place: placeOf(id),
    isAgent,
    readyAt: at,
    asked,
    span: { from: at, to: at },
    status: 'waiting',
    sandbox: { kind: 'inside' },
    hooks: hooksOf(session, id),
    ...(permit && { permit }),
    ...(session.tree.keepsContent && { input: item.input }),
  }
  session.calls.set(id, call)
  step.calls.push(call)
  if (permit) addInOrder(step.open, call)
  else step.open.add(call)
  lastTurn(session)?.toolNames.add(call.name)
  markChanged(session, step)
  markChanged(session, call)
}

/** `client · Edit`. */
const clientToolName = ({ lane, tool }: CallIntent): string | undefined =>
  lane.kind === 'client' ? `client · ${clientNameOf(tool)}` : undefined

/** `github · create_issue`. */
function serverToolName({ type, details }: CallIntent): string | undefined {
  const { server, tool } = details ?? {}
  return type === 'mcp_tool_call' && typeof server === 'string' && typeof tool === 'string' ? `${server} · ${tool}` : undefined
}

/** A list that may grow: hooks run before and after a call. */
function hooksOf({ hooks }: SessionNodes, id: string): readonly HookNode[] {
  const known = hooks.get(id) ?? []
  hooks.set(id, known)
  return known
}

function endCall(session: SessionNodes, step: StepNode, { item, at }: { readonly item: CallRecord; readonly at: number }): void {
  for (const [id, { itemId }] of step.requests) if (itemId === item.id) step.requests.delete(id)
  const call = session.calls.get(item.id)
  if (!call) return
  const { latencyMs, status, error, bytesIn, bytesOut } = item
  if (isFailure(status, call.isAgent)) countFailure(session)
  step.open.delete(call)
  // The intents of a step are committed together; the latency tells when a call began.
  const from = call.child ? call.span.from : at - latencyMs
  const exitCode = exitCodeOf(item)
  Object.assign(call, { latencyMs, bytesIn, bytesOut, status, span: { from, to: at }, changes: changesOf(item) }, error && { error })
  if (exitCode !== undefined) call.exitCode = exitCode
  if (item.parts) call.parts = item.parts
  if (session.tree.keepsContent) call.content = item.content
  if (item.output) call.stored = item.output
  delete call.output
  delete call.inQueue
  markChanged(session, call)
}

/** A tool that was stopped has not failed; an agent that was has no answer. */
const isFailure = (status: CallNode['status'], isAgent: boolean): boolean =>
  status === 'failed' || status === 'declined' || status === 'unknown' || (isAgent && status === 'interrupted')

function applyUpdate(session: SessionNodes, { update, itemId }: InteractionEvent<'interaction.item.updated'>): void {
  if (update.kind === 'plan') {
    setPlan(session, update.plan)
    return
  }
  // A further attempt ends the questions of the one before it.
  if (update.kind === 'attempt')
    for (const step of session.steps.values())
      for (const [id, request] of step.requests) if (request.itemId === itemId && step.requests.delete(id)) markChanged(session, step)
  const call = session.calls.get(itemId ?? '')
  if (!call || update.kind !== 'attempt' || update.reason !== 'unsandboxed') return
  call.sandbox = { kind: 'outside', by: update.by ?? ('by' in call.sandbox ? call.sandbox.by : '') }
  // The output of the sandboxed attempt is obsolete.
  delete call.output
  markChanged(session, call)
}

/** Item ids of a step end in a number that grows with each call. */
const placeOf = (itemId: string): number => Number(itemId.slice(itemId.lastIndexOf('.') + 1))

/** A call that had to be approved starts after calls with later positions. */
function addInOrder(open: Set<CallNode>, call: CallNode): void {
  const later = [...open].filter(({ place }) => place > call.place)
  for (const each of later) open.delete(each)
  for (const each of [call, ...later]) open.add(each)
}

const exclusive: Lane = { kind: 'exclusive' }

/** No event says when a call may begin; it follows from the lanes of the calls before it. */
function startWaitingCalls(session: SessionNodes, { open, requests }: StepNode, at: number): void {
  const asked = [...requests.values()].filter(({ scope }) => scope !== 'unsandboxed')
  const isBehind = ({ lane, place }: CallNode): boolean =>
    asked.some((each) => placeOf(each.itemId) < place && laneConflict(each.lane ?? exclusive, lane))
  const before: CallNode[] = []
  let running = 0
  for (const call of open) {
    if (running >= session.agent.parallelCalls) return
    if (call.status === 'waiting' && !isBehind(call) && !before.some(({ lane }) => laneConflict(lane, call.lane))) {
      call.status = 'running'
      call.span = { from: at, to: at }
      markChanged(session, call)
    }
    if (call.status === 'running') running++
    before.push(call)
  }
}

/** Adds the effect of a hook to its call, which may not have started yet, or else to the latest step. */
export function applyHook(
  session: SessionNodes,
  { hook, verdict, message = '', itemId }: InteractionEvent<'interaction.hook.completed'>,
): void {
  const node: HookNode = { hook, verdict, message }
  if (itemId === undefined) {
    const place = lastStep(session) ?? session.agent
    place.notes.push(node)
    markChanged(session, place)
    return
  }
  const known = session.hooks.get(itemId)
  if (known) known.push(node)
  else session.hooks.set(itemId, [node])
  markChanged(session, session.calls.get(itemId))
}
