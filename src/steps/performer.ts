import type { Performer } from '../core/index.ts'
import type { ActiveSession } from './active-session.ts'
import { wait } from './approvals.ts'
import { ask } from './ask.ts'
import { compact } from './compact.ts'
import { execute } from './execute.ts'
import { finish } from './finish.ts'
import { recover } from './recover.ts'
import { review } from './review.ts'
import { skip } from './skip.ts'

/** What the loop leaves to others. */
export const performer: Performer<ActiveSession> = { ask, review, execute, wait, skip, recover, compact, finish }
