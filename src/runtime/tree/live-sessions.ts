import type { ClientId, SessionId } from '../../contracts/index.ts'
import { type SessionState, speakerOf } from '../../core/index.ts'
import type { ActiveSession } from '../../steps/index.ts'
import { showValue } from '../../util/show-value.ts'

/** An active session, or a spawned child of one, by its id or path. @throws an error that lists the live ones. */
export function findLive(active: readonly ActiveSession[], to: string): SessionId {
  const live = active.flatMap(({ state: { turn, sessionId, agentPath } }) => [
    { sessionId, path: agentPath },
    ...(turn.kind === 'open' ? turn.spawned.map(({ childId, name }) => ({ sessionId: childId, path: `${agentPath}/${name}` })) : []),
  ])
  const found = live.find(({ sessionId, path }) => sessionId === to || path === to)
  if (found) return found.sessionId
  const paths = [...new Set(live.map(({ path }) => path))].join(', ')
  throw new Error(`there is no live session ${showValue(to)}; live: ${paths}`)
}

/** Who talks to the person. Parents come first: in a handoff of a child that speaks, the innermost speaks. */
export const findSpeaker = (active: readonly ActiveSession[]): SessionId | undefined =>
  active.reduce<SessionId | undefined>((found, { state }) => speakerOf(state)?.childId ?? found, undefined)

/** The message from outside that a session works on: the last one that it, or else its parent, has read. */
export function messageFor(state: SessionState, stateOf: (id: SessionId) => SessionState | undefined): ClientId | undefined {
  const above = state.message === undefined && state.parent ? stateOf(state.parent.sessionId) : undefined
  return above ? messageFor(above, stateOf) : state.message
}
