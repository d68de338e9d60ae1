export { type CallPermit, changesOf, decidedText, exitCodeOf, type FileChange, terminalApproverName } from './call-result.ts'
export { requestSummary, runAgainOutside, shownFor, taskText } from './call-summary.ts'
export { type Denial, denialsIn, unavailableApproverName } from './denials.ts'
export { applyEvent, applyPast, emptyTree, runTree, showInterrupting, subjectOf } from './fold-events.ts'
export { forgetEnded, forgetTurns } from './forget-ended.ts'
export {
  duration,
  elapsed,
  grouped,
  price,
  size,
  timeText,
  tokens,
  tokenWords,
  waitingText,
  waitingTime,
  workTime,
} from './format-numbers.ts'
export {
  type AgentNode,
  type AttemptNode,
  type CallNode,
  childrenOf,
  failedInside,
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
  shownTurnStatus,
  stepName,
  type TextNode,
  type TurnNode,
} from './nodes.ts'
export { type AgentSummary, type ModelSummary, runSummary, summaryOf, type ToolSummary } from './run-summary.ts'
export { childSpeaker, speakerAfter, speakerOf } from './speaker.ts'
export { spentByAttempts, spentByTurns } from './spent.ts'
export { totalLine } from './total-line.ts'
export { treeSummary } from './tree-summary.ts'
export { turnLines } from './turn-lines.ts'
export { noTotals, unnamedGroups, withEmptyDays } from './usage-figures.ts'
export { agentTimes, callTimes, type Times, turnTimes, workOf } from './waiting.ts'
