export { apply, created } from './apply.ts'
export { lastAnswer, timeReserve } from './budget.ts'
export { requestChars } from './changes.ts'
export { type Action, type AskAction, decide } from './decide.ts'
export { drive, type Performer } from './drive.ts'
export { approvalIdOf, callIdOf, errorItemIdOf, itemIdOf, planItemIdOf, stepIdOf } from './ids.ts'
export { agentLoop, type Offering, type Recipe } from './recipe.ts'
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
