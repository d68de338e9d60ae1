export { confinementFor } from './approval/agent-confinement.ts'
export { applyDecision, recheckOpenRequests, storeProjectGrant } from './approval/approval-decisions.ts'
export { toolApproval } from './approval/tool-approval.ts'
export { Lanes } from './calls/lanes.ts'
export { reportOf } from './finish/report-of.ts'
export { loadSteps, performer } from './loop/performer.ts'
export { type RecordedStep, rebuildRequest } from './model/rebuild-request.ts'
export { ModelHealth, sharedModelHealth } from './model-health.ts'
export { storedPartText } from './output/part-text.ts'
export type { QueueLimits } from './queues/queue.ts'
export type { QueueSlots, WaitTarget } from './queues/queue-slot.ts'
export { Queues, queueNames } from './queues/queues.ts'
export {
  ActiveSession,
  type ChildStart,
  type SpawningCall,
  type SpawnMessage,
  type SpawnPort,
  type StepPorts,
  type TreePort,
  type WaitingCall,
} from './session/active-session.ts'
export { waitInQueue } from './session/wait-in-queue.ts'
export { interruptGraceMs } from './tools/call-limit.ts'
export { withClientTools } from './tools/client-tools.ts'
export { type Offer, ToolRegistry } from './tools/tool-registry.ts'
