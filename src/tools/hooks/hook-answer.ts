import type {
  AfterCallVerdict,
  AtStopVerdict,
  BeforeCallVerdict,
  BeforeRequestVerdict,
  CallView,
  HookContext,
  HookPoint,
  OutputView,
  RequestView,
  StopView,
} from '../../contracts/index.ts'

/** What is asked at each point, and what may be answered. */
export interface Questions {
  readonly before_call: { readonly view: CallView; readonly verdict: BeforeCallVerdict }
  readonly after_call: { readonly view: CallView & { readonly output: OutputView }; readonly verdict: AfterCallVerdict }
  readonly before_request: { readonly view: RequestView; readonly verdict: BeforeRequestVerdict }
  readonly at_stop: { readonly view: StopView; readonly verdict: AtStopVerdict }
}

/** Whoever answers for a hook: a process, or a module. What it answers is checked where it is asked. */
export type Answer = <P extends HookPoint>(point: P, view: Questions[P]['view'], context: HookContext) => Promise<Questions[P]['verdict']>
