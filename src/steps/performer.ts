import type { Performer } from '../core/index.ts'
import type { ActiveSession } from './active-session.ts'
import { wait } from './approvals.ts'
import { ask } from './ask.ts'
import { execute } from './execute.ts'
import { review } from './review.ts'

/** What the loop leaves to others, for this session. */
export function performer(session: ActiveSession): Performer {
  return {
    ask: (action) => ask(session, action),
    review: (calls) => review(session, calls),
    execute: (calls) => execute(session, calls),
    wait: () => wait(session),
  }
}
