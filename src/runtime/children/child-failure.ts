import type { AgentLimits, ModelFailure, ToolFailure, TurnEnding, TurnReason } from '../../contracts/index.ts'
import { callerLimitText, describeLimits } from '../../core/index.ts'

interface FailedChild {
  readonly name: string
  /** As they were in force: a child has some that its agent does not state. */
  readonly limits?: Partial<AgentLimits>
}

/** What a parent is told about a child that did not complete: class, summary, remedy. */
export function childFailure({ name, limits = {} }: FailedChild, ending: TurnEnding): ToolFailure | undefined {
  if (ending.status === 'completed') return undefined
  const { reason } = ending
  const failure = ending.status === 'failed' ? ending.failure : undefined
  const kind = reason === 'model' && failure ? byModelFailure[failure.class] : byReason[reason]
  const message =
    ending.status === 'failed'
      ? `${name} failed: ${ending.message}`
      : `${name} ${endings[reason] ?? `ended early (${reason})`}${isLimitAbove(ending) ? callerLimitText : describeLimits(reason, limits)}.`
  const remedy = (ending.status === 'failed' ? ending.remedy : undefined) ?? remedies[kind]
  return { class: kind, message, remedy }
}

const isLimitAbove = (ending: TurnEnding): boolean => ending.status === 'partial' && ending.limit === 'above'

const byReason: { readonly [Reason in TurnReason]: ChildFailureClass } = {
  steps: 'budget',
  tokens: 'budget',
  cost: 'budget',
  context: 'budget',
  repeats: 'failed',
  hook: 'failed',
  calls: 'budget',
  time: 'timeout',
  stopped: 'cancelled',
  interrupted: 'cancelled',
  approval: 'denied',
  released: 'cancelled',
  denied: 'denied',
  model: 'model',
  invalid_output: 'model',
  config: 'config',
  store: 'failed',
  internal: 'failed',
}

const byModelFailure: { readonly [Class in ModelFailure['class']]: ChildFailureClass } = {
  rate_limit: 'model',
  quota: 'auth',
  auth: 'auth',
  network: 'network',
  timeout: 'timeout',
  invalid_response: 'model',
  model: 'model',
  config: 'config',
  context: 'budget',
  budget: 'timeout',
  cancelled: 'cancelled',
  lost: 'model',
}

const endings: { readonly [Reason in TurnReason]?: string } = {
  steps: 'ran out of steps',
  tokens: 'ran out of tokens',
  cost: 'ran out of money',
  calls: 'ran out of calls',
  time: 'ran out of time',
  context: 'ran out of room for what was said',
  repeats: 'made the same call over and over',
  stopped: 'was stopped',
  interrupted: 'was interrupted',
  denied: 'was ended by a person',
}

/** What a child that did not complete may be to its parent. */
type ChildFailureClass = 'budget' | 'timeout' | 'auth' | 'network' | 'model' | 'denied' | 'cancelled' | 'config' | 'failed'

const remedies: { readonly [Class in ChildFailureClass]: string } = {
  budget: 'Ask for less at once, or go on with what there is.',
  timeout: 'Ask for less at once, or go on with what there is.',
  auth: 'Check the key of its provider.',
  network: 'Try again later, or go on without it.',
  model: 'Try again, or go on without it.',
  denied: 'Go on without it.',
  cancelled: 'Go on without it.',
  config: 'Go on without it, and say that it has to be set up.',
  failed: 'Try another way, or go on without it.',
}
