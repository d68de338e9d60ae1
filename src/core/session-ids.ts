import type { ApprovalId, CallId, ItemId, SessionId, StepId, TurnId } from '../contracts/index.ts'

// Ids inside a session are counted: a replay of the journal gives the same ids.

export const turnIdOf = (turn: number): TurnId => `t${turn}` as TurnId
export const stepIdOf = (turn: TurnId, step: number): StepId => `${turn}.s${step}` as StepId

/** Items of a retry have ids of their own. */
export const itemIdOf = (step: StepId, attempt: number, item: number): ItemId =>
  (attempt === 1 ? `${step}.${item}` : `${step}r${attempt}.${item}`) as ItemId
export const planItemIdOf = (turn: TurnId): ItemId => `${turn}.plan` as ItemId
export const errorItemIdOf = (turn: TurnId): ItemId => `${turn}.error` as ItemId

export const callIdOf = (session: SessionId, item: ItemId): CallId => `${session}:${item}` as CallId
export const approvalIdOf = (call: CallId, scope: string): ApprovalId => `${call}/${scope}` as ApprovalId
