export { confinementFor } from './approval/agent-confinement.ts'
export { applyDecision, recheckOpenRequests, storeProjectGrant } from './approval/approval-decisions.ts'
export { interruptGraceMs } from './calls/call-limit.ts'
export { Lanes } from './calls/lanes.ts'
export { matchesTool, type Offer, offeredName, ToolRegistry } from './calls/tool-registry.ts'
export { storedPartText } from './context/part-text.ts'
export {
  ActiveSession,
  type ChildStart,
  type SpawningCall,
  type SpawnMessage,
  type SpawnPort,
  type StepPorts,
  type TreePort,
  type WaitingCall,
} from './loop/active-session.ts'
export { loadSteps, performer } from './loop/performer.ts'
export { reportOf } from './loop/report-of.ts'
export { ModelHealth, sharedModelHealth } from './model/model-health.ts'
export { type RecordedStep, rebuildRequest } from './model/rebuild-request.ts'
export type { QueueLimits } from './queues/queue.ts'
export type { QueueSlots, WaitTarget } from './queues/queue-slot.ts'
export { Queues, queueNames } from './queues/queues.ts'
export { waitInQueue } from './queues/wait-in-queue.ts'
