export { openRequests } from './approvals.ts'
export { performer } from './performer.ts'
export { Stage, type StagePorts } from './stage.ts'
export { checkTools, matches, offeredName, ToolRegistry } from './tool-registry.ts'
