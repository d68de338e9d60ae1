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
  SessionPlace,
  StopView,
} from '../../contracts/index.ts'
import type { TrustedFiles } from './hook-files.ts'

export interface HookPlace {
  /** Paths are relative to this folder, and commands run in it. */
  readonly baseDir: string
  /** All variables of programs and modules, besides `TROUPE_HOOK`, which marks the processes that they start. */
  readonly environment: { readonly [name: string]: string }
  readonly clock: Clock
  /** The key of the list, for problems. Default `hooks`. */
  readonly place?: string
  /** A hook with files that are not trusted fails at each call. Default: no check. */
  readonly trusted?: TrustedFiles
  /** Real paths of folders that agents may write to: a program given by name must not be in them. Default: none. */
  readonly writable?: readonly string[]
}

/** The question and the verdicts of each point. */
export interface Questions {
  readonly before_call: { readonly view: CallView; readonly verdict: BeforeCallVerdict }
  readonly after_call: { readonly view: CallView & { readonly output: OutputView }; readonly verdict: AfterCallVerdict }
  readonly before_request: { readonly view: RequestView; readonly verdict: BeforeRequestVerdict }
  readonly at_stop: { readonly view: StopView; readonly verdict: AtStopVerdict }
}

/** The session of a question, for a program or a module. */
export const placeOf = ({ treeId, sessionId, agentPath, principal }: HookContext): SessionPlace => ({
  treeId,
  sessionId,
  agentPath,
  principal,
})

/** Answers for a hook, by a program or a module. The caller checks the verdict. */
export type Answer = <P extends HookPoint>(point: P, view: Questions[P]['view'], context: HookContext) => Promise<Questions[P]['verdict']>
