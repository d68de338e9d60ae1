// Everything but a plain model request. Loaded on first use.

export { wait } from '../approval/approval-decisions.ts'
export { review } from '../approval/review.ts'
export { execute } from '../calls/execute.ts'
export { compact } from '../context/compact.ts'
export { finish } from '../finish/finish.ts'
export { defer } from './defer.ts'
export { recover } from './recover.ts'
export { rest } from './rest.ts'
export { skip } from './skip.ts'
