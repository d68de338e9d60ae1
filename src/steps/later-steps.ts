// What the loop does besides asking in the usual way. Nobody imports it before there is such a thing to do.

export { wait } from './approvals.ts'
export { compact, summaryRequest, tellNoRoom } from './compact.ts'
export { defer } from './defer.ts'
export { execute } from './execute.ts'
export { endTurn, finish } from './finish.ts'
export { beforeRequest } from './hooks.ts'
export { recover } from './recover.ts'
export { review } from './review.ts'
export { skip } from './skip.ts'
