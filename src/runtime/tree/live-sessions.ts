import type { SessionId } from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'
import { showValue } from '../../util/show-value.ts'

/** An active session, or a spawned child of one, by its id or path. @throws an error that lists the live ones. */
export function findLive(active: readonly SessionState[], to: string): SessionId {
  const live = active.flatMap(({ turn, sessionId, agentPath }) => [
    { sessionId, path: agentPath },
    ...(turn.kind === 'open' ? turn.spawned.map(({ childId, name }) => ({ sessionId: childId, path: `${agentPath}/${name}` })) : []),
  ])
  const found = live.find(({ sessionId, path }) => sessionId === to || path === to)
  if (found) return found.sessionId
  const paths = [...new Set(live.map(({ path }) => path))].join(', ')
  throw new Error(`there is no live session ${showValue(to)}; live: ${paths}`)
}
