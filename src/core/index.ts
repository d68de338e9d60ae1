export { apply, created } from './apply.ts'
export { type Account, boundBy, type Headroom, isLimited, least, ownAccounts, tightest, unbounded } from './budget/accounts.ts'
export { addSpent, type Spent } from './budget/add-spent.ts'
export { lastAnswer, timeReserve } from './budget/allowance.ts'
export { isCount, isUsage } from './budget/is-usage.ts'
export { leftByCallers, limitsInForce, limitText, type ReachedLimit, raiseLimit, ranOut } from './budget/limit-texts.ts'
export { mostCharacters, wentBeyond } from './budget/output-bound.ts'
export { isPrice, priced } from './budget/priced.ts'
export { type CallList, callList, findCall, placeOf } from './calls/call-list.ts'
export { callsNotBegun } from './calls/call-order.ts'
export { failedRecord, failureText, unknownResult } from './calls/call-results.ts'
export { laneConflict } from './calls/lane-conflict.ts'
export { LaneSet } from './calls/lane-set.ts'
export { type AtTheWalls, atTheWalls } from './calls/sandbox-stage.ts'
export { type Action, type AskAction, decide } from './decide.ts'
export { drive, type Performer } from './drive.ts'
export { failurePolicy, longestDelayMs } from './failure-policy.ts'
export { approvalIdOf, callIdOf, errorItemIdOf, itemIdOf, planItemIdOf, stepIdOf } from './ids.ts'
export { messageSize } from './message-size.ts'
export { type Exclusions, noExclusions } from './next-model.ts'
export { agentLoop, type Offering, type Recipe } from './recipe.ts'
export { Released } from './released.ts'
export { type Pen, Session, type SessionParts } from './session.ts'
export {
  type AskingStep,
  type Call,
  type CallBase,
  type Cancel,
  type EndedTurn,
  type OpenTurn,
  openRequests,
  type ReviewableCall,
  type SessionState,
  type StartedCall,
  type Turn,
} from './state.ts'
export { requestChars } from './state-changes.ts'
