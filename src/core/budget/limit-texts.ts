import type { AgentLimits, PartialReason, TurnReason } from '../../contracts/index.ts'
import { showDuration } from '../../util/parse-duration.ts'

/** Why a turn ended before there was an answer, and what can be done about it. */
export const partialReasonTexts: { readonly [Reason in PartialReason]: { readonly why: string; readonly remedy: string } } = {
  steps: { why: 'it ran out of steps', remedy: 'Raise maxToolTurns.' },
  tokens: { why: 'it ran out of tokens', remedy: 'Raise maxTokens or maxSessionTokens.' },
  cost: { why: 'it ran out of money', remedy: 'Raise maxCostUsd.' },
  time: { why: 'it ran out of time', remedy: 'Raise timeBudget.' },
  calls: { why: 'it ran out of calls', remedy: 'Raise maxCalls.' },
  context: { why: 'the history no longer fits the model', remedy: 'Take a model with a larger window, or ask for less at once.' },
  repeats: { why: 'it made the same call over and over', remedy: 'Say more precisely what is wanted.' },
  hook: { why: 'a hook objects to it', remedy: 'Do what the hook asks for, or change the hook.' },
  stopped: { why: 'it was stopped', remedy: 'Send a further message to go on.' },
}

type LimitKey = Extract<keyof AgentLimits, 'maxToolTurns' | 'maxTokens' | 'maxSessionTokens' | 'maxCostUsd' | 'maxCalls' | 'timeBudget'>

/** A limit that a turn ran into: its key and value, and the agent whose limit it is. */
export interface ReachedLimit {
  readonly key: LimitKey
  readonly limit: number
  readonly agent: string
  readonly isRoot: boolean
}

/** `limits.maxTokens of trip is 500`. */
export const limitText = ({ key, limit, agent }: ReachedLimit): string =>
  `limits.${key} of ${agent} is ${key === 'timeBudget' ? showDuration(limit) : limit}`

/** How to raise it. Flags apply to the agent that is run, not to those that it calls. */
export const raiseLimitText = ({ key, agent, isRoot }: ReachedLimit): string =>
  `Raise limits.${key} of ${agent}${isRoot ? ` (on the command line: ${limitFlags[key]})` : ''}.`

export const limitFlags: { readonly [Key in LimitKey]: string } = {
  maxToolTurns: '--max-steps',
  maxTokens: '--max-tokens',
  maxSessionTokens: '--override limits.maxSessionTokens=COUNT',
  maxCostUsd: '--max-cost',
  maxCalls: '--override limits.maxCalls=COUNT',
  timeBudget: '--time-budget',
}

/** Of a child whose own limits leave it more than those above it do. */
export const callerLimitText = ', of which those who called it had no more left'

/** The limits that a turn may have run into, as they were in force: ` (its maxTokens is 50000)`. Nothing where it has none of its own. */
export function describeLimits(reason: TurnReason, limits: Partial<AgentLimits>): string {
  const { timeBudget } = limits
  const inForce: { readonly [Reason in TurnReason]?: readonly (readonly [name: string, figure: number | string | undefined])[] } = {
    steps: [['maxToolTurns', limits.maxToolTurns]],
    tokens: [
      ['maxTokens', limits.maxTokens],
      ['maxSessionTokens', limits.maxSessionTokens],
    ],
    cost: [['maxCostUsd', limits.maxCostUsd]],
    time: [['timeBudget', timeBudget === undefined ? undefined : showDuration(timeBudget)]],
    calls: [['maxCalls', limits.maxCalls]],
  }
  const figures = (inForce[reason] ?? []).flatMap(([name, figure]) => (figure === undefined ? [] : [`its ${name} is ${figure}`]))
  return figures.length === 0 ? '' : ` (${figures.join(', ')})`
}
