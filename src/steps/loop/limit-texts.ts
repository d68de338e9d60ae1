import { type AgentLimits, type LimitSpec, limitTable, type PartialReason, type TurnReason } from '../../contracts/index.ts'
import { type OwnerDayAccount, resourceOf } from '../../core/index.ts'
import { showDuration } from '../../util/parse-units.ts'

/** Every limit that can end a turn, and the reason of such an ending. */
const limitReasons = { maxToolTurns: 'steps', maxCalls: 'calls', ...resourceOf } as const

type LimitKey = keyof typeof limitReasons
const keysFor = (reason: TurnReason): readonly LimitKey[] =>
  (Object.keys(limitReasons) as LimitKey[]).filter((key) => limitReasons[key] === reason)
const raise = (reason: TurnReason): string => `Raise ${keysFor(reason).join(' or ')}.`

/** Why a turn ended before there was an answer, and what to do. */
export const partialReasonTexts: { readonly [Reason in PartialReason]: { readonly why: string; readonly remedy: string } } = {
  steps: { why: 'it ran out of steps', remedy: raise('steps') },
  tokens: { why: 'it ran out of tokens', remedy: raise('tokens') },
  cost: { why: 'it ran out of money', remedy: raise('cost') },
  time: { why: 'it ran out of time', remedy: raise('time') },
  calls: { why: 'it ran out of calls', remedy: raise('calls') },
  context: {
    why: 'the history no longer fits the model',
    remedy: 'Use a model with a larger context window, or ask for less in one turn.',
  },
  repeats: { why: 'it repeated the same call', remedy: 'State the task more precisely.' },
  hook: { why: 'a hook rejects it', remedy: 'Do what the hook asks for, or change the hook.' },
  stopped: { why: 'it was stopped', remedy: 'Send another message to continue.' },
}

/** A limit that a turn reached. */
export type ReachedLimit = ReachedAgentLimit | ReachedOwnerLimit

type ReachedOwnerLimit = Pick<OwnerDayAccount, 'key' | 'limit' | 'owner' | 'renewsAt'>

interface ReachedAgentLimit {
  readonly key: LimitKey
  readonly limit: number
  /** The agent that has the limit. */
  readonly agent: string
  readonly isRoot: boolean
}

/** `limits.maxTokens of trip is 500`, `the budget of token:ci is 500 tokens a day`. */
export const limitText = (reached: ReachedLimit): string =>
  'owner' in reached ? ownerLimitText(reached) : `limits.${reached.key} of ${reached.agent} is ${limitValue(reached.key, reached.limit)}`

const ownerLimitText = ({ key, limit, owner }: ReachedOwnerLimit): string =>
  `the budget of ${owner} is ${limit} ${key === 'tokensPerDay' ? 'tokens' : 'US dollars'} a day`

const limitValue = (key: LimitKey, value: number): number | string => (limitTable[key].kind === 'duration' ? showDuration(value) : value)

/** Flags apply to the root agent only. */
export function raiseLimitText(reached: ReachedLimit): string {
  if ('owner' in reached) return renewalText(reached)
  const { key, agent, isRoot } = reached
  return `Raise limits.${key} of ${agent}${isRoot ? ` (on the command line: ${limitFlag(key)})` : ''}.`
}

const renewalText = ({ key, limit, owner, renewsAt }: ReachedOwnerLimit): string =>
  limit === 0 ? `Raise ${key} of ${owner}.` : `Wait until it is renewed (${new Date(renewsAt).toISOString()}), or raise ${key} of ${owner}.`

function limitFlag(key: LimitKey): string {
  const { flag }: LimitSpec = limitTable[key]
  return flag ? `--${flag.name}` : `--override limits.${key}=COUNT`
}

/** For a child that reached a limit of an ancestor, or the budget of the owner. */
export const limitAboveTexts = {
  above: ' (a limit of an agent that called it)',
  owner: ' (the budget of the owner of this session)',
} as const

/** The limits of the agent behind a reason: ` (its maxTokens is 50000)`. Empty if it has none. */
export function describeLimits(reason: TurnReason, limits: Partial<AgentLimits>): string {
  const texts = keysFor(reason).flatMap((key) => {
    const value = limits[key]
    return value === undefined ? [] : [`its ${key} is ${limitValue(key, value)}`]
  })
  return texts.length === 0 ? '' : ` (${texts.join(', ')})`
}
