/*
 * Folds the events of a run into its tree, one by one.
 *
 * 1. Live events add what is only worth seeing while it happens (text, progress); all else follows from durable ones,
 *    so a journal gives the same tree as watching did.
 * 2. A turn that was suspended stays so until it does something itself. While somebody below it goes on, it is awake.
 */
import type { InteractionEvent, StreamEvent } from '../../contracts/index.ts'
import { joinSession } from './join-session.ts'
import { lastStep, lastTurn, type RunTree, type SessionNodes } from './nodes.ts'
import { takeHook } from './sent-back.ts'
import { takeItem } from './take-item.ts'
import { takeQueue } from './take-queue.ts'
import { dropRequests, needOf, takeRequest } from './take-request.ts'
import { takeLive, takeStep } from './take-step.ts'

export const emptyTree = (): RunTree => ({ roots: [], sessions: new Map() })

/** The tree that a journal tells of; the first `past` events had happened before. */
export function runTree(events: readonly InteractionEvent[], past = 0): RunTree {
  const tree = emptyTree()
  recallInto(tree, events.slice(0, past))
  for (const event of events.slice(past)) applyToTree(tree, event)
  return tree
}

/** Takes in what had happened before a run was taken up. Turns that were over then are no part of what is shown. */
export function recallInto(tree: RunTree, past: readonly InteractionEvent[]): void {
  for (const event of past) applyToTree(tree, event)
  for (const { turns } of tree.roots)
    turns.splice(0, turns.length, ...turns.filter(({ status }) => status === 'running' || status === 'suspended'))
}

/** Takes in what has happened, and answers with what is now known of where it happened. */
export function applyToTree(tree: RunTree, event: StreamEvent): SessionNodes {
  const session = tree.sessions.get(event.sessionId) ?? joinSession(tree, event)
  if ('seq' in event) take(tree, session, event)
  else if (event.type === 'interaction.item.delta') takeLive(session, event)
  else takeQueue(session, event)
  return session
}

/** What people know the agent or the call by that an event is about, once it was taken in; nothing where it is about neither. */
export function subjectOf({ sessions }: RunTree, event: StreamEvent): string | undefined {
  switch (event.type) {
    case 'interaction.session.created':
    case 'interaction.session.configured':
      return sessions.get(event.sessionId)?.agent.name
    case 'interaction.subagent.started':
    case 'interaction.subagent.completed':
    case 'interaction.subagent.failed':
      return sessions.get(event.childId)?.agent.name
    case 'interaction.subagent.selected':
      return sessions.get(event.sessionId)?.agent.name
    case 'interaction.item.started':
      return sessions.get(event.sessionId)?.calls.get(event.item.id)?.name
    default:
      return undefined
  }
}

/** Somebody wants the run to end; it will tell when it has heard of it. */
export function askToEnd({ roots }: RunTree): void {
  for (const { turns } of roots) {
    const turn = turns.at(-1)
    if (turn?.status === 'running') turn.cancelling = 'interrupt'
  }
}

function take(tree: RunTree, session: SessionNodes, event: InteractionEvent): void {
  const { agent } = session
  const turn = lastTurn(session)
  if (turn?.status === 'running') turn.span = { from: turn.span.from, to: Math.max(turn.span.to, event.at) }
  switch (event.type) {
    case 'interaction.session.created':
    case 'interaction.session.configured': {
      const { toolName: name, limits } = event.agent
      const { maxToolTurns: maxSteps, maxRetries, parallelToolCalls: parallelCalls } = limits
      Object.assign(agent, { name, maxSteps, maxRetries, parallelCalls })
      break
    }
    case 'interaction.turn.started':
      agent.turns.push({ status: 'running', span: { from: event.at, to: event.at }, steps: [], widestTool: 0 })
      for (const known of [session.steps, session.calls, session.requests, session.hooks]) known.clear()
      break
    case 'interaction.step.started':
    case 'interaction.step.completed':
    case 'interaction.step.failed':
      goOn(session)
      delete turn?.inLine
      takeStep(session, event)
      break
    case 'interaction.item.started':
    case 'interaction.item.updated':
    case 'interaction.item.completed':
      goOn(session)
      takeItem(session, event)
      break
    case 'interaction.turn.completed':
    case 'interaction.turn.failed':
    case 'interaction.turn.interrupted':
      endTurn(session, event)
      break
    case 'interaction.turn.suspended':
      if (turn)
        Object.assign(turn, { status: 'suspended', reason: event.reason, waits: { needs: needOf(tree, event.approvals), isAwake: false } })
      rouse(session, false)
      break
    case 'interaction.approval.requested':
      takeRequest(session, event)
      break
    case 'interaction.approval.resolved':
      takeRequest(session, event)
      goOn(session)
      break
    case 'interaction.context.compacted':
      ;(lastStep(session) ?? agent).notes.push({ tokensBefore: event.tokensBefore, tokensAfter: event.tokensAfter })
      break
    case 'interaction.diagnostic':
      ;(lastStep(session) ?? agent).notes.push(event.diagnostic)
      break
    case 'interaction.hook.completed':
      takeHook(session, event)
      break
    case 'interaction.cancel.requested':
      if (turn) turn.cancelling = event.mode === 'stop' ? 'stop' : 'interrupt'
      break
    case 'interaction.session.resumed':
      // What has changed since is a matter of the whole turn, and of the step that it stands at.
      ;(lastStep(session) ?? agent).notes.push(...event.diagnostics)
      break
    // What follows changes neither shape nor figures of the tree.
    case 'interaction.session.idle':
    case 'interaction.input.accepted':
    case 'interaction.approval.granted':
    case 'interaction.approval.revoked':
    case 'interaction.subagent.selected':
    case 'interaction.subagent.started':
    case 'interaction.subagent.completed':
    case 'interaction.subagent.failed':
    case 'interaction.context.added':
      break
    default:
      event satisfies never
  }
}

type TurnEnd = InteractionEvent<'interaction.turn.completed' | 'interaction.turn.failed' | 'interaction.turn.interrupted'>

function endTurn(session: SessionNodes, { ending, totals }: TurnEnd): void {
  const turn = lastTurn(session)
  if (!turn) return
  delete turn.reason
  delete turn.waits
  delete turn.inLine
  Object.assign(turn, { status: ending.status, totals }, 'reason' in ending && { reason: ending.reason })
  dropRequests(session)
}

/** The turn does something, and so all above it have something to wait for but a person. */
function goOn(session: SessionNodes): void {
  const turn = lastTurn(session)
  if (turn?.status === 'suspended') {
    turn.status = 'running'
    delete turn.reason
    delete turn.waits
  }
  rouse(session, true)
}

function rouse({ above }: SessionNodes, isAwake: boolean): void {
  for (let session = above; session; session = session.above) {
    const turn = lastTurn(session)
    if (turn?.waits && turn.waits.isAwake !== isAwake) turn.waits = { ...turn.waits, isAwake }
  }
}
