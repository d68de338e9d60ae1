export { type CallPermit, changesOf, decidedText, exitCodeOf, type FileChange, terminalApproverName } from './call-result.ts'
export { requestSummary, runAgainOutside, shownFor } from './call-summary.ts'
export { answerNeeded, duration, elapsed, grouped, plural, price, reasonText, size, timeText, tokens } from './format-numbers.ts'
export {
  type AgentNode,
  type AttemptNode,
  type CallNode,
  childrenOf,
  type HookNode,
  isRunning,
  lastStep,
  lastTurn,
  type MessageNode,
  type NodeId,
  type NoteNode,
  type QueuePlace,
  type RejectedAnswer,
  type RequestNode,
  type RunTree,
  type SessionNodes,
  type Span,
  type StepNode,
  shownStatus,
  stepName,
  type TextNode,
  type TurnNode,
} from './nodes.ts'
export { type AgentSummary, type ModelSummary, runSummary, summaryOf, type ToolSummary } from './run-summary.ts'
export { type Applied, applyEvent, applyPast, emptyTree, runTree, showInterrupting, subjectOf } from './run-tree.ts'
export { spentByAttempts, spentByTurns } from './spent.ts'
export { treeSummary } from './tree-summary.ts'
