import type { ApprovalId, CallId, ItemId, SessionId, StepId, TurnId } from '../contracts/index.ts'

// Ids inside a session are counted, not drawn: the same journal gives the same ids, and a replay gives them again.

export const turnName = (turn: number): TurnId => `t${turn}` as TurnId
export const stepName = (turn: TurnId, step: number): StepId => `${turn}.s${step}` as StepId

/** Items of a further attempt must not meet those of the first. */
export const itemName = (step: StepId, attempt: number, item: number): ItemId =>
  (attempt === 1 ? `${step}.${item}` : `${step}r${attempt}.${item}`) as ItemId

export const callName = (session: SessionId, item: ItemId): CallId => `${session}:${item}` as CallId
export const approvalName = (item: ItemId, scope: 'call' | 'unsandboxed'): ApprovalId =>
  (scope === 'call' ? `${item}.approval` : `${item}.unsandboxed`) as ApprovalId
