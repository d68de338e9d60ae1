import type { Clock } from '../../contracts/index.ts'

// Clients repeat a request whose connection broke. So a turn with tools of its client is interrupted only a moment after the client has
// left, unless another request follows it by then. A connection may end long after its client has given it up: the last request decides.

/** Clients that were tried repeat a request within two seconds. */
const pauseMs = 10_000

interface Follower {
  /** Its client has left. */
  left(): void
  /** Its answer is complete. */
  done(): void
  /** Another request follows the turn: that one decides whether it goes on. */
  replaced(): void
}

/** The last request that follows a turn, by session. */
const followers = new Map<string, Follower>()
/** All requests that follow a turn, and those whose client may come back. */
const open = new Map<string, Set<Follower>>()

/** Whether a request follows the turn, or its client may come back. */
export const isFollowed = (sessionId: string): boolean => open.has(sessionId)

/** A request follows the turn from now on, in place of earlier ones. If its client leaves for good, the turn is interrupted. */
export function turnFollower(sessionId: string, clock: Pick<Clock, 'after'>, interrupt: () => void): Follower {
  followers.get(sessionId)?.replaced()
  let cancel = (): void => {}
  let hasLeft = false
  const follower: Follower = {
    left() {
      hasLeft = true
      if (followers.get(sessionId) !== follower) return follower.done()
      cancel()
      cancel = clock.after(pauseMs, () => {
        follower.done()
        interrupt()
      })
    },
    replaced() {
      if (hasLeft) follower.done()
    },
    done() {
      cancel()
      if (followers.get(sessionId) === follower) followers.delete(sessionId)
      const all = open.get(sessionId)
      if (all?.delete(follower) && all.size === 0) open.delete(sessionId)
    },
  }
  followers.set(sessionId, follower)
  open.set(sessionId, (open.get(sessionId) ?? new Set()).add(follower))
  return follower
}
