import type { ToolFailure } from './failures.ts'
import type { BlobId, ClientId, ItemId } from './ids.ts'
import type { Json, JsonObject } from './json.ts'
import type { OutputPart } from './messages.ts'
import type { Plan } from './plan.ts'

/** `skipped` never ran. `unknown` may have run: the process ended before the result was recorded. */
export type ItemStatus = 'completed' | 'failed' | 'declined' | 'interrupted' | 'skipped' | 'unknown'

export const callItemTypes = ['tool_call', 'command_execution', 'file_change', 'mcp_tool_call', 'subagent_call'] as const
export type CallItemType = (typeof callItemTypes)[number]
export type TextItemType = 'agent_message' | 'reasoning' | 'error'
export type ItemType = CallItemType | TextItemType | 'todo_list'

export type Effect = 'read' | 'idempotent' | 'write'

/**
 * Which calls of a step must not overlap: `exclusive` with none, equal keys not with each other. `client`: it runs in the client of the
 * session, after all others, and overlaps with nothing here.
 */
export type Lane = { readonly kind: 'shared' | 'exclusive' | 'client' } | { readonly kind: 'key'; readonly key: string }

/** The intent of a call: once this is in the journal, the call may have run. */
export interface CallIntent {
  readonly kind: 'call'
  readonly id: ItemId
  readonly type: CallItemType
  readonly tool: string
  readonly namespace: string
  readonly title: string
  /** The provider's id of this call. The result refers to it. */
  readonly providerCallId: string
  readonly input: JsonObject
  readonly effect: Effect
  readonly lane: Lane
  /** For display: a command line, the paths of a change. */
  readonly details?: JsonObject
  /** The person, rule or grant that approved it. */
  readonly approved?: { readonly by: string }
  /** A person's answer to the question of the tool. */
  readonly answer?: string
}

export interface CallRecord {
  readonly kind: 'call'
  readonly id: ItemId
  readonly type: CallItemType
  readonly status: ItemStatus
  /** The text for the model. */
  readonly content: string
  readonly value?: Json
  /** Present if the output has parts that are not text. */
  readonly parts?: readonly OutputPart[]
  readonly error?: ToolFailure
  /** The stored full text of an oversized output. */
  readonly output?: { readonly handle: BlobId; readonly bytes: number }
  readonly latencyMs: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** Notices of spawned children that this result contains: they are not delivered again. */
  readonly delivers?: readonly ClientId[]
  /** The turn ends with its step. */
  readonly endsTurn?: true
}

export interface TextIntent {
  readonly kind: 'text'
  readonly id: ItemId
  readonly type: TextItemType
}
export interface TextRecord {
  readonly kind: 'text'
  readonly id: ItemId
  readonly type: TextItemType
  readonly status: ItemStatus
  readonly text: string
  readonly metadata?: JsonObject
}

/** The plan of a turn: one item, from the first plan to the end of the turn. */
export interface PlanIntent {
  readonly kind: 'plan'
  readonly id: ItemId
  readonly type: 'todo_list'
  readonly plan: Plan
}
export interface PlanRecord extends PlanIntent {
  readonly status: 'completed' | 'failed' | 'interrupted'
}

export type ItemIntent = CallIntent | TextIntent | PlanIntent
export type ItemRecord = CallRecord | TextRecord | PlanRecord
