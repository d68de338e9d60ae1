import type { AgentLimits, ModelFailure, ToolFailure, TurnEnding, TurnReason } from '../../contracts/index.ts'
import { describeLimits, limitAboveTexts, turnEndTexts } from '../../policy/limit-texts.ts'

interface FailedChild {
  readonly name: string
  /** As they were in force: children have defaults that other agents do not have. */
  readonly limits?: Partial<AgentLimits>
}

/** How a child that did not complete is reported to its parent. */
export function childFailure({ name, limits = {} }: FailedChild, ending: TurnEnding): ToolFailure | undefined {
  if (ending.status === 'completed') return undefined
  const { reason } = ending
  const failure = ending.status === 'failed' ? ending.failure : undefined
  const kind = reason === 'model' && failure ? byModelFailure[failure.class] : byReason[reason]
  const message =
    ending.status === 'failed'
      ? `${name} failed: ${ending.message}`
      : `${name} ${turnEndTexts[reason].ended ?? `ended early (${reason})`}${limitAbove(ending) ?? describeLimits(reason, limits)}.`
  const remedy = (ending.status === 'failed' ? ending.remedy : undefined) ?? remedies[kind]
  return { class: kind, message, remedy }
}

const limitAbove = (ending: TurnEnding): string | undefined =>
  ending.status === 'partial' && ending.limit ? limitAboveTexts[ending.limit] : undefined

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
  input: 'cancelled',
  client: 'cancelled',
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

type ChildFailureClass = 'budget' | 'timeout' | 'auth' | 'network' | 'model' | 'denied' | 'cancelled' | 'config' | 'failed'

const remedies: { readonly [Class in ChildFailureClass]: string } = {
  budget: 'Give it a smaller task, or continue with what it returned.',
  timeout: 'Give it a smaller task, or continue with what it returned.',
  auth: 'Check the API key of its provider.',
  network: 'Try again later, or continue without it.',
  model: 'Try again, or continue without it.',
  denied: 'Continue without it.',
  cancelled: 'Continue without it.',
  config: 'Continue without it, and report that it must be configured.',
  failed: 'Try another way, or continue without it.',
}
