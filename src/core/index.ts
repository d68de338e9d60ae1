export { apply, createSessionState } from './apply.ts'
export {
  type AgentAccount,
  accountKeys,
  allAccounts,
  type Headroom,
  isLimited,
  isOutputLimited,
  type OwnerDayAccount,
  ownAccounts,
  type Resource,
  resourceOf,
  tightestAccount,
  unlimited,
  workedMs,
} from './budget/accounts.ts'
export { lastAnswerReservation, timeReserve } from './budget/allowance.ts'
export { computeCost, isCount, isUsage, priceOf } from './budget/check-figures.ts'
export { exceededText, maxReplyCharacters, minAnswerTokens } from './budget/output-grant.ts'
export { callsNotBegun } from './calls/call-order.ts'
export { failedRecord, failureText } from './calls/failed-record.ts'
export { LaneSet, laneConflict } from './calls/lane-conflicts.ts'
export { lostCallDiagnostic, lostCallRecord, lostReplyText, notRunAgain, unfinishedCallRecord } from './calls/lost-call-texts.ts'
export { type Action, type AskAction, decide } from './decide.ts'
export { begin, drive, type Performer } from './drive.ts'
export { failurePolicy, maxDelayMs } from './failure-policy.ts'
export { type Exclusions, noExclusions } from './next-model.ts'
export { agentLoop, type Offering, type Recipe } from './recipe.ts'
export { type EventWriter, Released, Session, type SessionParts } from './session.ts'
export { approvalIdOf, callIdOf, errorItemIdOf, itemIdOf, planItemIdOf, stepIdOf, turnIdOf } from './session-ids.ts'
export { type CallList, callList, findCall, indexOfCall } from './state/call-list.ts'
export { messageSize, partChars } from './state/message-size.ts'
export {
  type AskingStep,
  type Call,
  type CallBase,
  type EarlierTurn,
  type EndedTurn,
  type EscalationStage,
  escalationStage,
  isBetweenAttempts,
  isInterrupted,
  nextInput,
  type OpenTurn,
  openRequests,
  type ReviewableCall,
  requestsToPeople,
  type SessionState,
  type SpawnedChild,
  type StartedCall,
  speakerOf,
  type Turn,
  type Waiting,
} from './state/state.ts'
export { requestChars } from './state/state-changes.ts'
export { blobAddress, blobOfInput, hasStoredParts, isReadableBy } from './state/stored-parts.ts'
