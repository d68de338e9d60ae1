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
  /** Calls `fire` once after `ms` of monotonic time. Returns a function that cancels it. */
  after(ms: number, fire: () => void): () => void
}

/** A source of unguessable ids. */
export interface Ids {
  next(): string
}

/** Uniform in [0, 1); the same key gives the same number in the same session. */
export interface Random {
  fraction(key: string): number
}

/**
 * Decides requests that rules leave open: a person at a terminal, a policy service.
 * `suspend` suspends the session until an answer is in the inbox; `wait` keeps waiting for it.
 */
export interface Approver {
  decide(
    request: ApprovalRequest,
    signal: AbortSignal,
  ): MaybePromise<{ readonly decision: ApprovalDecision; readonly by: string } | 'suspend' | 'wait'>
  /** Whether nobody has seen the request yet: then a new grant can decide it. Without this, only `decide` does. */
  isInLine?(id: ApprovalId): boolean
}

export interface CallView {
  readonly tool: string
  readonly input: JsonObject
}
/** `change`: the call runs with these arguments instead. People see the reason; the model sees that of a block, too. */
export type BeforeCallVerdict =
  | { readonly kind: 'continue' }
  | { readonly kind: 'change'; readonly input: JsonObject; readonly reason?: string }
  | { readonly kind: 'block'; readonly reason: string }
export type AfterCallVerdict = { readonly kind: 'continue' } | { readonly kind: 'context'; readonly text: string }

/** The input of a `before_request` hook. */
export interface RequestView {
  readonly agent: string
  readonly model: string
  /** Characters of the request. */
  readonly size: number
}
/** `context` is added to this request and stays in the history. */
export type BeforeRequestVerdict = { readonly kind: 'continue' } | { readonly kind: 'context'; readonly text: string }
/** The input of an `at_stop` hook: the answer. */
export interface StopView {
  readonly agent: string
  readonly text: string
  /** How often hooks have sent the model back in this turn. */
  readonly resumed: number
}
/** `resume` sends the model back to work with a reason. */
export type AtStopVerdict = { readonly kind: 'continue' } | { readonly kind: 'resume'; readonly reason: string }

/** The signal fires at the timeout of the hook and at an interrupt of the turn. */
export interface HookContext {
  readonly signal: AbortSignal
}

export interface Hook {
  readonly name: string
  /** If the hook fails: `closed` stops the call or turn (after a call, the model is informed), `open` continues. */
  readonly onFailure: 'closed' | 'open'
  /** Timeout; exceeding it is a failure. Default: a minute. */
  readonly timeoutMs?: number
  /** Names and patterns of tools, such as `shell` or `write_*`. Default: all. */
  readonly tools?: readonly string[]
  beforeCall?(call: CallView, context: HookContext): MaybePromise<BeforeCallVerdict>
  afterCall?(call: CallView & { readonly output: OutputView }, context: HookContext): MaybePromise<AfterCallVerdict>
  beforeRequest?(request: RequestView, context: HookContext): MaybePromise<BeforeRequestVerdict>
  atStop?(stop: StopView, context: HookContext): MaybePromise<AtStopVerdict>
  /** Called when the runtime closes. A later use starts the hook again. */
  close?(): MaybePromise<void>
}

/** How calls are confined. A tool that the sandbox stops fails with class `sandbox` and may run again outside if approved. */
export interface Sandbox {
  readonly confinement: Confinement
}

/** JSON Schema validation. Each schema is compiled once, on first use. */
export interface SchemaValidator {
  compile(schema: JsonSchema): MaybePromise<Validate>
  /** Repairs the JSON text of an object; `undefined` if that is impossible. */
  repair(text: string): MaybePromise<string | undefined>
}
export type Validate = (value: unknown) => Validation
/** `value` may differ from the input if a type was converted without loss, such as `"10"` to `10`. */
export type Validation =
  | { readonly ok: true; readonly value: unknown }
  /** Each problem names the place, the expected and the actual value. */
  | { readonly ok: false; readonly problems: readonly string[] }
