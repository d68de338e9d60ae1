// Hooks, summaries and stored images of a model request. Loaded on first use.

export { beforeRequest } from '../approval/hooks.ts'
export { compact, reportNoRoom, summaryRequest } from '../context/compact.ts'
export { endTurn } from '../finish/finish.ts'
export { withLoadedParts } from './load-parts.ts'
