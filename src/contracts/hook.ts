import type { ToolFailure } from './failures.ts'
import type { JsonObject, MaybePromise } from './json.ts'
import type { SessionPlace } from './principal.ts'
import type { ToolExtras } from './tool.ts'

/** When a hook runs. */
export const hookPoints = ['before_call', 'after_call', 'before_request', 'at_stop'] as const
export type HookPoint = (typeof hookPoints)[number]

/** An entry of `hooks` in a configuration. */
export type HookDefinition = HookSettings & HookSource

interface HookSettings {
  readonly name: string
  readonly on: readonly HookPoint[]
  /** Names of tools, as models or people write them; `*` matches anything. Default: all. */
  readonly tools?: readonly string[]
  /** If the hook fails: `closed` stops the call or turn, `open` continues. */
  readonly onFailure: 'closed' | 'open'
  /** `30s`, or milliseconds. Default: a minute. */
  readonly timeout?: string | number
}

/** A program and its arguments, started without a shell; or a module, whose exports are `beforeCall` and so on. */
type HookSource = { readonly command: readonly string[]; readonly module?: never } | { readonly module: string; readonly command?: never }

/** Hooks see at most so many characters of an output. */
export const maxHookOutputChars = 262_144

/** The output of a call for an `after_call` hook: redacted, and a copy. */
export type OutputView =
  | ({ readonly ok: true; readonly content: string } & ShownBeside)
  | ({ readonly ok: false; readonly error: ToolFailure; readonly partial?: string } & ShownBeside)

interface ShownBeside {
  /** The text was cut. */
  readonly cut?: true
  /** A copy of its JSON part, made when it is read. Not available to programs. */
  readonly extras?: ToolExtras
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
  /** Its number in the turn, from 1. */
  readonly step: number
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
export interface HookContext extends SessionPlace {
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
