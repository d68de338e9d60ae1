import type {
  AfterCallVerdict,
  AtStopVerdict,
  BeforeCallVerdict,
  BeforeRequestVerdict,
  CallView,
  Clock,
  HookContext,
  HookPoint,
  OutputView,
  RequestView,
  StopView,
} from '../../contracts/index.ts'
import type { TrustedFiles } from './hook-files.ts'

/** What hooks are started with. */
export interface HookPlace {
  /** Paths are relative to this folder, and commands run in it. */
  readonly baseDir: string
  /** Every variable that commands and modules get, besides `TROUPE_HOOK`, by which what they start is found. */
  readonly environment: { readonly [name: string]: string }
  readonly clock: Clock
  /** Where the definitions stand, for problems. Default `hooks`. */
  readonly place?: string
  /** A hook that names other files than these fails, whenever it is asked. Default: nobody looks. */
  readonly trusted?: TrustedFiles
  /** Folders that agents may write to, without links: a program that is found by its name must not be there. Default: none. */
  readonly writable?: readonly string[]
}

/** What is asked at each point, and what may be answered. */
export interface Questions {
  readonly before_call: { readonly view: CallView; readonly verdict: BeforeCallVerdict }
  readonly after_call: { readonly view: CallView & { readonly output: OutputView }; readonly verdict: AfterCallVerdict }
  readonly before_request: { readonly view: RequestView; readonly verdict: BeforeRequestVerdict }
  readonly at_stop: { readonly view: StopView; readonly verdict: AtStopVerdict }
}

/** Whoever answers for a hook: a process, or a module. What it answers is checked where it is asked. */
export type Answer = <P extends HookPoint>(point: P, view: Questions[P]['view'], context: HookContext) => Promise<Questions[P]['verdict']>
