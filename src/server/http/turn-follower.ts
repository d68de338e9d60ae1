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
}

/** The last request that follows a turn, by session. */
const followers = new Map<string, Follower>()

/** A request follows the turn from now on, in place of earlier ones. If its client leaves for good, the turn is interrupted. */
export function turnFollower(sessionId: string, clock: Pick<Clock, 'after'>, interrupt: () => void): Follower {
  followers.get(sessionId)?.done()
  let cancel = (): void => {}
  const follower: Follower = {
    left() {
      if (followers.get(sessionId) !== follower) return
      cancel()
      cancel = clock.after(pauseMs, () => {
        follower.done()
        interrupt()
      })
    },
    done() {
      cancel()
      if (followers.get(sessionId) === follower) followers.delete(sessionId)
    },
  }
  followers.set(sessionId, follower)
  return follower
}
