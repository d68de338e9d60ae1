// Everything but a plain model request. Loaded on first use.

export { wait } from '../approval/approval-decisions.ts'
export { beforeRequest } from '../approval/hooks.ts'
export { review } from '../approval/review.ts'
export { execute } from '../calls/execute.ts'
export { compact, reportNoRoom, summaryRequest } from '../context/compact.ts'
export { withLoadedParts } from '../model/load-parts.ts'
export { defer } from '../queues/wait-in-queue.ts'
export { endTurn, finish } from './finish.ts'
export { recover } from './recover.ts'
export { rest } from './rest.ts'
export { skip } from './skip.ts'
