// Checked by `npm run typecheck`, never run: the shapes that people store, read and switch over.
import type { AgentLoopStateSnapshot, EventType, InteractionEvent, Json, LiveEvent, SessionId, StreamEvent, TurnId } from './index.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const sure = <Claim extends true>(claim?: Claim) => claim

declare const turnId: TurnId
declare const sessionId: SessionId
declare const snapshot: AgentLoopStateSnapshot

const base = {
  version: 1,
  sessionId,
  seq: 7,
  selectedAgent: snapshot.selectedAgent,
  skills: [{ id: 'writing', scope: 'project', path: 'skills/writing', hash: 'abc' }],
  tools: ['clock'],
  approvalKeys: [{ key: 'tool:clock', label: 'clock' }],
  policy: 'none',
  history: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  state: {},
} as const

export const accepted: AgentLoopStateSnapshot = base
const { policy, ...rest } = base

export const refused: readonly AgentLoopStateSnapshot[] = [
  // @ts-expect-error: another version is another type
  { ...base, version: 2 },
  // @ts-expect-error: plain text is not an id
  { ...base, sessionId: 'session' },
  // @ts-expect-error: one kind of id is not another
  { ...base, sessionId: turnId },
  // @ts-expect-error: nothing is left out
  rest,
  // @ts-expect-error: a skill has a hash
  { ...base, skills: [{ id: 'writing', scope: 'project', path: 'skills/writing' }] },
  // @ts-expect-error: a message has a known role
  { ...base, history: [{ role: 'system', parts: [] }] },
  // @ts-expect-error: the state is JSON
  { ...base, state: { at: new Date() } },
]

type Plain<T> = T extends Json | undefined ? T : T extends (...args: never) => unknown ? never : { [Key in keyof T]: Plain<T[Key]> }
sure<Equal<Plain<() => void>, never>>()
export const isPlain: Plain<AgentLoopStateSnapshot> = snapshot

export function isFixed(): void {
  // @ts-expect-error: a snapshot does not change
  snapshot.seq = 8
  // @ts-expect-error: nor does its history
  snapshot.history.push({ role: 'tool', results: [] })
}

export function narrowsByType(event: StreamEvent): string | number {
  switch (event.type) {
    case 'interaction.turn.completed':
      return event.report.text + event.totals.steps
    case 'interaction.turn.failed':
      return event.ending.reason + (event.ending.failure?.class ?? '')
    case 'interaction.item.started':
      return event.item.kind === 'call' ? event.item.tool : event.item.id
    case 'interaction.item.completed':
      if (event.item.kind === 'plan') return event.item.plan.steps.length
      return event.item.kind === 'call' ? event.item.content : event.item.text
    case 'interaction.item.delta':
      // @ts-expect-error: what is live has no place in the journal
      return event.seq
    case 'interaction.queue.joined':
    case 'interaction.queue.left':
      return event.queue + event.since
    case 'interaction.step.started':
      // @ts-expect-error: a step that has only started has no usage
      return event.usage.input
    default:
      return event.seq
  }
}

export function durableOrLive(event: StreamEvent): void {
  if ('seq' in event) sure<Equal<typeof event, InteractionEvent>>()
  else sure<Equal<typeof event, LiveEvent>>()
  // @ts-expect-error: only a durable event has a seq
  event.seq
}

sure<Equal<InteractionEvent['type'], EventType>>()
sure<Equal<Extract<EventType, LiveEvent['type']>, never>>()
sure<Equal<InteractionEvent<'interaction.session.idle'>['type'], 'interaction.session.idle'>>()
