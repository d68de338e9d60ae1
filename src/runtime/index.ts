export { ModelHealth, type QueueLimits } from '../steps/index.ts'
export type { AgentDefinition, AgentLoopConfig, SkillFolders } from './api/agent-config.ts'
export type {
  AgentRuntime,
  CloseOptions,
  ContinuedSession,
  OpenOptions,
  RunHandle,
  RunInput,
  RunOptions,
  RuntimeHost,
  RuntimeObserver,
  RuntimeOptions,
} from './api/agent-runtime.ts'
export { createAgentRuntime } from './api/create-agent-runtime.ts'
export { randomIds, systemClock } from './api/default-ports.ts'
export type { McpOptions } from './api/server-sources.ts'
export { openRequestsOf, type PendingApprovals, readPendingApprovals } from './resume/pending-approvals.ts'
export { type RecordedRun, recordedRun } from './resume/recorded-run.ts'
export { findRequest, storeAnswer } from './resume/store-answer.ts'
export type { AgentSelection } from './selection/select-agent.ts'
export { exportSession } from './sessions/export-session.ts'
export { forkSession } from './sessions/fork-session.ts'
export { modelRequest } from './sessions/model-request.ts'
export { type Reindexed, reindexStore } from './sessions/reindex-store.ts'
export { deleteTree } from './tree/delete-tree.ts'
export { endTree } from './tree/end-tree.ts'
export { checkTools } from './validation/check-tools.ts'
