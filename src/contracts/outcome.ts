import type { OutputContract } from './agent.ts'
import type { ErrorCode } from './errors.ts'
import type { Diagnostic, ModelFailure, ToolFailureClass, TurnReason } from './failures.ts'
import type { ItemId, SessionId, StepId, TurnId } from './ids.ts'
import type { ItemStatus } from './items.ts'
import type { Json } from './json.ts'
import type { AgentLoopStateSnapshot } from './snapshot.ts'
import type { Cost, Usage } from './usage.ts'

export interface Report<Value = Json> {
  readonly format: OutputContract['format']
  readonly text: string
  /** The value of an answer in JSON. With a schema of a library, its transforms and defaults are applied. */
  readonly value?: Value
}

/** The position of a session in its tree. */
export interface Trace {
  readonly originId: string
  readonly parentId?: string
  /** Agents from the root to this one. */
  readonly callPath: string
  /** Turns from the root's to this session's. */
  readonly turnPath: string
}

export type OutcomeStatus = 'completed' | 'partial' | 'failed' | 'interrupted' | 'suspended'

export interface ModelEntry {
  readonly kind: 'model'
  readonly agentPath: string
  readonly stepId: StepId
  readonly attempt: number
  /** `provider/name`. */
  readonly model: string
  readonly status: 'completed' | 'failed'
  readonly usage: Usage
  readonly cost: Cost
  readonly latencyMs: number
  readonly failure?: ModelFailure
}
export interface CallEntry {
  readonly kind: 'call'
  readonly agentPath: string
  readonly stepId: StepId
  readonly itemId: ItemId
  readonly tool: string
  readonly namespace: string
  readonly title: string
  readonly status: ItemStatus
  readonly bytesIn: number
  readonly bytesOut: number
  readonly latencyMs: number
  /** It ran outside the sandbox, with approval. */
  readonly unsandboxed?: boolean
  readonly error?: ToolFailureClass
}
/** One entry for each model attempt and each call, in the order in which they ended. */
export type AccountingEntry = ModelEntry | CallEntry

export interface StepOperation {
  readonly kind: 'step'
  readonly stepId: StepId
  readonly attempts: readonly ModelEntry[]
  readonly calls: readonly CallOperation[]
}
/** A call, with the turn of the child that it started. `suspended`: the child waits for a person. */
export interface CallOperation extends Omit<CallEntry, 'status'> {
  readonly status: ItemStatus | 'suspended'
  readonly child?: TurnOperation
  /** The turns before `child`, if the child was spawned and had several. */
  readonly earlier?: readonly TurnOperation[]
}
/** Turn → step → call. */
export interface TurnOperation {
  readonly kind: 'turn'
  readonly agentPath: string
  readonly turnId: TurnId
  readonly status: OutcomeStatus
  /** From start to end. */
  readonly durationMs: number
  /** The part of it that was no work: it waited for a person, or had no driver. */
  readonly waitedMs: number
  readonly steps: readonly StepOperation[]
}

/** `agentPath`: `root/researcher#1`. */
export interface Speaker {
  readonly sessionId: SessionId
  readonly agentPath: string
  readonly agent: string
}

/** How a turn ended. Every run has an outcome; it never throws. `Value`: of the schema that was given to the run. */
export interface Outcome<Value = Json> {
  readonly status: OutcomeStatus
  readonly reason?: TurnReason
  readonly message?: string
  readonly remedy?: string
  readonly failure?: ModelFailure
  /** The error that stopped the driver of the turn. */
  readonly code?: ErrorCode
  readonly sessionId: SessionId
  readonly turnId?: TurnId
  /** While a handoff is open: the last answer of the agent that speaks. */
  readonly report?: Report<Value>
  /** The child that talks to the person, if a handoff is open: messages to the session go to it. */
  readonly speaker?: Speaker
  readonly usage: Usage
  readonly cost: Cost
  readonly accounting: readonly AccountingEntry[]
  readonly operations: TurnOperation | undefined
  readonly trace: Trace
  readonly diagnostics: readonly Diagnostic[]
  readonly snapshot: AgentLoopStateSnapshot
}
