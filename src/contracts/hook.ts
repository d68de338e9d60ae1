import type { ToolFailure } from './failures.ts'
import type { ToolExtras } from './tool.ts'

/** Where in a turn a hook is asked. */
export const hookPoints = ['before_call', 'after_call', 'before_request', 'at_stop'] as const
export type HookPoint = (typeof hookPoints)[number]

/** A hook as it stands under `hooks` in a configuration. */
export type HookDefinition = HookSettings & HookSource

interface HookSettings {
  readonly name: string
  readonly on: readonly HookPoint[]
  /** Names of tools, as models know them or as people write them; `*` stands for any letters. Default: all. */
  readonly tools?: readonly string[]
  /** What a hook that fails means: `closed` stops what it was asked about, `open` lets it go on. */
  readonly onFailure: 'closed' | 'open'
  /** `30s`, or milliseconds. Default a minute. */
  readonly timeout?: string | number
}

/** A program and its arguments, started without a shell; or a module, whose exports are `beforeCall` and so on. */
type HookSource = { readonly command: readonly string[]; readonly module?: never } | { readonly module: string; readonly command?: never }

/** Of a text that a call gave, hooks are shown so many characters. */
export const maxHookOutputChars = 262_144

/** What a hook after a call is shown of what came of it: what the model is told, without secrets, and its own to change. */
export type OutputView =
  | ({ readonly ok: true; readonly content: string } & ShownBeside)
  | ({ readonly ok: false; readonly error: ToolFailure; readonly partial?: string } & ShownBeside)

interface ShownBeside {
  /** There is more of the text than is shown. */
  readonly cut?: true
  /** A copy of what is JSON among them, made when it is looked at. Programs are not shown any. */
  readonly extras?: ToolExtras
}
