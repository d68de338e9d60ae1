import type {
  AfterCallVerdict,
  AtStopVerdict,
  BeforeCallVerdict,
  BeforeRequestVerdict,
  CallView,
  Clock,
  HookContext,
  RequestView,
  StopView,
  ToolOutput,
} from '../../contracts/index.ts'

import type { TrustedFiles } from './hook-files.ts'

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
  /** `30s`. Default a minute. */
  readonly timeout?: string
}

/** A program and its arguments, started without a shell; or a module, whose exports are `beforeCall` and so on. */
type HookSource = { readonly command: readonly string[]; readonly module?: never } | { readonly module: string; readonly command?: never }

/** What hooks are started with. */
export interface HookPlace {
  /** Paths are relative to this folder, and commands run in it. */
  readonly baseDir: string
  /** Every variable that commands get. */
  readonly environment: { readonly [name: string]: string }
  readonly clock: Clock
  /** Where the definitions stand, for problems. Default `hooks`. */
  readonly place?: string
  /** A hook that names other files than these fails, whenever it is asked. Default: nobody looks. */
  readonly trusted?: TrustedFiles
}

/** What is asked at each point, and what may be answered. */
export interface Questions {
  readonly before_call: { readonly view: CallView; readonly verdict: BeforeCallVerdict }
  readonly after_call: { readonly view: CallView & { readonly output: ToolOutput }; readonly verdict: AfterCallVerdict }
  readonly before_request: { readonly view: RequestView; readonly verdict: BeforeRequestVerdict }
  readonly at_stop: { readonly view: StopView; readonly verdict: AtStopVerdict }
}

/** Whoever answers for a hook: a process, or a module. What it answers is checked where it is asked. */
export type Answer = <P extends HookPoint>(point: P, view: Questions[P]['view'], context: HookContext) => Promise<Questions[P]['verdict']>
