import type { Performer } from '../core/index.ts'
import type { ActiveSession } from './active-session.ts'
import { wait } from './approvals.ts'
import { ask } from './ask.ts'
import { execute } from './execute.ts'
import { review } from './review.ts'

/** What the loop leaves to others. */
export const performer: Performer<ActiveSession> = { ask, review, execute, wait }
