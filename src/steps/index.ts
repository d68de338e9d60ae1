export { ActiveSession, type StepPorts } from './active-session.ts'
export { performer } from './performer.ts'
export { matches, offeredName, ToolRegistry } from './tool-registry.ts'
