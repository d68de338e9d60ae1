import type { Performer } from '../core/index.ts'
import { wait } from './approvals.ts'
import { ask } from './ask.ts'
import { execute } from './execute.ts'
import { review } from './review.ts'
import { skip } from './skip.ts'
import type { Stage } from './stage.ts'

/** What the loop leaves to others, on this stage. */
export function performer(stage: Stage): Performer {
  return {
    ask: (action) => ask(stage, action),
    review: (calls) => review(stage, calls),
    execute: (calls) => execute(stage, calls),
    skip: (calls, reason) => skip(stage, calls, reason),
    wait: () => wait(stage),
  }
}
