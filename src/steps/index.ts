export { ActiveSession, type ChildStart, type StepPorts, type TreePort } from './active-session.ts'
export { Lanes } from './lanes.ts'
export { performer } from './performer.ts'
export { matches, offeredName, ToolRegistry } from './tool-registry.ts'
