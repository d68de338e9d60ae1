import type { ToolFailure } from './failures.ts'
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
