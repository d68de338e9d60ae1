import type { ApprovalDecision, ApprovalRequest } from './approvals.ts'
import type { OutputView } from './hook.ts'
import type { ApprovalId } from './ids.ts'
import type { JsonObject, JsonSchema, MaybePromise } from './json.ts'
import type { Confinement } from './tool.ts'

export interface Clock {
  /** Milliseconds since 1970; may jump. */
  now(): number
  /** Milliseconds from an arbitrary start; never goes back. Deadlines and latencies use this one. */
  monotonic(): number
  /** Calls `fire` once after `ms` of monotonic time; the answer cancels it. */
  after(ms: number, fire: () => void): () => void
}

/** A source of ids that nobody can guess. */
export interface Ids {
  next(): string
}

/** Uniform in [0, 1); the same key gives the same number in the same session. */
export interface Random {
  fraction(key: string): number
}

/**
 * Decides what rules do not: a person at a terminal, a policy service.
 * `suspend` ends the driving until an answer is in the inbox; `wait` goes on waiting for it.
 */
export interface Approver {
  decide(
    request: ApprovalRequest,
    signal: AbortSignal,
  ): MaybePromise<{ readonly decision: ApprovalDecision; readonly by: string } | 'suspend' | 'wait'>
  /** Whether nobody has seen a question yet: then what is granted meanwhile answers it. Without this, its own answer is waited for. */
  isInLine?(id: ApprovalId): boolean
}

export interface CallView {
  readonly tool: string
  readonly input: JsonObject
}
/** `change`: the call runs with these arguments instead. A reason is told to people, that of a block to the model, too. */
export type BeforeCallVerdict =
  | { readonly kind: 'continue' }
  | { readonly kind: 'change'; readonly input: JsonObject; readonly reason?: string }
  | { readonly kind: 'block'; readonly reason: string }
export type AfterCallVerdict = { readonly kind: 'continue' } | { readonly kind: 'context'; readonly text: string }

/** What a hook before a request may look at. */
export interface RequestView {
  readonly agent: string
  readonly model: string
  /** Characters of what the model is about to be shown. */
  readonly size: number
}
/** `context` is added to this request and stays in the history. */
export type BeforeRequestVerdict = { readonly kind: 'continue' } | { readonly kind: 'context'; readonly text: string }
/** An answer that is about to be given. */
export interface StopView {
  readonly agent: string
  readonly text: string
  /** How often a hook has already sent the model back in this turn. */
  readonly resumed: number
}
/** `resume` sends the model back to work with a reason. */
export type AtStopVerdict = { readonly kind: 'continue' } | { readonly kind: 'resume'; readonly reason: string }

/** Fires when nobody waits for the answer any more: at the time limit, and at an interrupt of the turn. */
export interface HookContext {
  readonly signal: AbortSignal
}

export interface Hook {
  readonly name: string
  /** What a failure of the hook means: `closed` stops what it was asked about, the call or the turn; after a call the model is told. */
  readonly onFailure: 'closed' | 'open'
  /** How long it may think; longer is a failure. Default a minute. */
  readonly timeoutMs?: number
  /** Names and patterns of the tools whose calls it is asked about, such as `shell` or `write_*`. Default: all of them. */
  readonly tools?: readonly string[]
  beforeCall?(call: CallView, context: HookContext): MaybePromise<BeforeCallVerdict>
  afterCall?(call: CallView & { readonly output: OutputView }, context: HookContext): MaybePromise<AfterCallVerdict>
  beforeRequest?(request: RequestView, context: HookContext): MaybePromise<BeforeRequestVerdict>
  atStop?(stop: StopView, context: HookContext): MaybePromise<AtStopVerdict>
  /** With the runtime: ends what it runs in. A later question starts it anew. */
  close?(): MaybePromise<void>
}

/** How calls are confined. A tool that hits the walls answers with class `sandbox`, and may be run again outside, if approved. */
export interface Sandbox {
  readonly confinement: Confinement
}

/** JSON Schema behind one narrow door, so that core needs no library. Compiled once per schema, lazily. */
export interface SchemaValidator {
  compile(schema: JsonSchema): MaybePromise<Validate>
  /** Mends the JSON text of an object that a model broke; `undefined` when there is nothing to mend it to. */
  repair(text: string): MaybePromise<string | undefined>
}
export type Validate = (value: unknown) => Validation
/** `value` may differ from what was given where a type could be mended without loss, e.g. `"10"` to `10`. */
export type Validation =
  | { readonly ok: true; readonly value: unknown }
  /** Each problem names the place, what was expected and what was there. */
  | { readonly ok: false; readonly problems: readonly string[] }
