export { ModelHealth, type QueueLimits } from '../steps/index.ts'
export { createAgentRuntime } from './api/create-agent-runtime.ts'
export { maxInputPartBytes } from './inputs/store-input.ts'
export { openRequestsOf, readPendingApprovals } from './journal/pending-approvals.ts'
export { recordedRun } from './journal/recorded-run.ts'
export type { AgentDefinition, AgentLoopConfig, AgentSelection, SkillFolders } from './options/agent-config.ts'
export type {
  AgentRuntime,
  CloseOptions,
  ContinuedSession,
  McpOptions,
  OpenOptions,
  RunHandle,
  RunInput,
  RunOptions,
  RuntimeHost,
  RuntimeObserver,
  RuntimeOptions,
} from './options/agent-runtime.ts'
export { randomIds, systemClock } from './parts/default-ports.ts'
export { exportSession } from './sessions/export-session.ts'
export { forkSession } from './sessions/fork-session.ts'
export { modelRequest } from './sessions/model-request.ts'
export { type Reindexed, reindexStore } from './sessions/reindex-store.ts'
export { findRequest, storeAnswer } from './sessions/store-answer.ts'
export { deleteTree } from './tree/delete-tree.ts'
export { endTree } from './tree/end-tree.ts'
export { checkTools } from './validation/check-tools.ts'
