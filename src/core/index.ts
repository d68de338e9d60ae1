export { apply, created, fold } from './apply.ts'
export { type Headroom, lastAnswer, least, remainingCost, remainingTime, remainingTokens, timeReserve, unbounded } from './budget.ts'
export { type Action, type AskAction, decide } from './decide.ts'
export { drive, type Performer } from './drive.ts'
export { reportOf } from './finish.ts'
export { approvalIdOf, callIdOf, itemIdOf, stepIdOf } from './ids.ts'
export { agentLoop, type Offering, type Recipe } from './recipe.ts'
export { type LivePlace, type Pen, Session, type SessionParts } from './session.ts'
export { type Facts, neverRan } from './skip.ts'
export {
  type EndedTurn,
  type OpenTurn,
  openRequests,
  type ReviewableCall,
  type SessionState,
  type StartedCall,
  type Turn,
} from './state.ts'
