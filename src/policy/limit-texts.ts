import {
  type AgentLimits,
  type HandoffReason,
  type LastStepReason,
  type LimitSpec,
  limitTable,
  type OwnerBudget,
  type PartialReason,
  type TurnReason,
} from '../contracts/index.ts'
import { asSentence } from '../util/as-sentence.ts'
import { showDuration } from '../util/parse-units.ts'

// What people and models read when a budget, a limit or something else ends a turn or a handoff.

/** Every limit that can end a turn, and the reason of such an ending. */
export const limitReasons = {
  maxToolTurns: 'steps',
  maxCalls: 'calls',
  maxTokens: 'tokens',
  maxSessionTokens: 'tokens',
  maxCostUsd: 'cost',
  timeBudget: 'time',
} as const

type LimitKey = keyof typeof limitReasons
const keysFor = (reason: TurnReason): readonly LimitKey[] =>
  (Object.keys(limitReasons) as LimitKey[]).filter((key) => limitReasons[key] === reason)
const raise = (reason: TurnReason): string => `Raise ${keysFor(reason).join(' or ')}.`
const reached = (limit: string): string => `The ${limit} of this task was reached before it was done. Write “continue” to go on.`

interface EndTexts {
  /** Beside the status: `failed: the store failed`. */
  readonly status: string
  /** After the name of the agent: `scout was interrupted`. */
  readonly ended?: string
}
interface PartialEndTexts extends Required<EndTexts> {
  /** To the person in a channel. */
  readonly message: string
  readonly remedy: string
}
interface LimitTexts extends PartialEndTexts {
  /** To the model, before its last answer. */
  readonly notice: string
}

export const turnEndTexts: {
  readonly [Reason in TurnReason]: Reason extends LastStepReason ? LimitTexts : Reason extends PartialReason ? PartialEndTexts : EndTexts
} = {
  steps: {
    status: 'step limit',
    ended: 'ran out of steps',
    notice: 'The step limit of this turn is reached.',
    message: reached('limit of steps'),
    remedy: raise('steps'),
  },
  tokens: {
    status: 'token limit',
    ended: 'ran out of tokens',
    notice: 'The token budget of this turn is exhausted.',
    message: reached('token budget'),
    remedy: raise('tokens'),
  },
  cost: {
    status: 'cost limit',
    ended: 'ran out of its cost budget',
    notice: 'The cost budget of this turn is exhausted.',
    message: reached('cost budget'),
    remedy: raise('cost'),
  },
  time: {
    status: 'time limit',
    ended: 'ran out of time',
    notice: 'The time budget of this turn is exhausted.',
    message: reached('time budget'),
    remedy: raise('time'),
  },
  calls: {
    status: 'call limit',
    ended: 'ran out of calls',
    notice: 'The limit of tool calls in this turn is reached.',
    message: reached('limit of calls'),
    remedy: raise('calls'),
  },
  context: {
    status: 'the history no longer fits the model',
    ended: 'ran out of context window',
    notice: 'The context window is full.',
    message: 'The conversation is too long for the model. Begin a new one with /new.',
    remedy: 'Use a model with a larger context window, or ask for less in one turn.',
  },
  repeats: {
    status: 'the same call was repeated too often',
    ended: 'repeated the same call',
    notice: 'You repeated the same call too often.',
    message: 'The task was ended because the same call was repeated too often.',
    remedy: 'State the task more precisely.',
  },
  hook: {
    status: 'a hook objects to the answer',
    ended: 'was rejected by a hook',
    message: 'A hook objects to this answer.',
    remedy: 'Do what the hook asks for, or change the hook.',
  },
  stopped: {
    status: 'stopped',
    ended: 'was stopped',
    notice: 'The user asked to stop.',
    message: 'Stopped.',
    remedy: 'Send another message to continue.',
  },
  interrupted: { status: 'interrupted', ended: 'was interrupted' },
  approval: { status: 'approval required' },
  input: { status: 'input to a child required' },
  client: { status: 'waits for results of its client' },
  released: { status: 'stopped; resumable' },
  denied: { status: 'approval denied', ended: 'was aborted by a person' },
  model: { status: 'the model failed' },
  invalid_output: { status: 'the answer does not match the output schema' },
  config: { status: 'invalid configuration' },
  store: { status: 'the store failed' },
  internal: { status: 'internal error' },
}

/** Instead of the status text of `approval`, if only questions are open. */
export const answerNeeded = 'answer required'

/** Of a model request, by the id of the model: `provider/name`. */
export const quotaText = (modelId: string): string => `Quota used up at ${modelId.split('/', 1)[0]}`

/** To the agent that handed over. */
export const handoffEndTexts: { readonly [Reason in Exclude<HandoffReason, 'done'>]: string } = {
  time: 'its time budget is used up.',
  turns: 'the person has sent as many messages as it may answer.',
  tokens: 'its token budget is used up.',
  idle: 'the person has not written for too long.',
  failed: 'it failed.',
  asked: 'the person asked for you.',
  ended: 'it was stopped.',
}

/** To the person, after the name of the agent. They know of the other ends. */
const handoffNotices: { readonly [Reason in HandoffReason]?: string } = {
  time: 'has used the time for this conversation',
  turns: 'has answered as many messages as it may',
  tokens: 'has used the tokens for this conversation',
  idle: 'has waited too long for a message from you',
  failed: 'has failed',
}

interface HandoffEnd {
  readonly reason: HandoffReason
  readonly agent: string
  readonly failure?: string | undefined
}

/** Tells the person why an agent no longer talks to them. `undefined`: they know. */
export function handoffEndNotice({ reason, agent, failure }: HandoffEnd): string | undefined {
  const notice = handoffNotices[reason]
  const why = reason === 'failed' && failure !== undefined ? `: ${failure}` : ''
  return notice && asSentence(`${agent} ${notice}${why}`)
}

/** A limit that a turn reached. */
export type ReachedLimit = ReachedAgentLimit | ReachedOwnerLimit

interface ReachedAgentLimit {
  readonly key: LimitKey
  readonly limit: number
  /** The agent that has the limit. */
  readonly agent: string
  readonly isRoot: boolean
}

interface ReachedOwnerLimit {
  readonly key: keyof OwnerBudget
  readonly limit: number
  readonly owner: string
  /** Milliseconds since 1970. */
  readonly renewsAt: number
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

/** A remedy for people who cannot set flags. */
export const withoutFlag = (remedy: string): string => remedy.replace(/ \(on the command line: [^)]*\)/, '')
