import type { AgentLimits, AgentSpec, ModelFailure } from '../contracts/index.ts'
import { failurePolicy, maxDelayMs } from './failure-policy.ts'

/** Models of an agent that are left out for now, and until when (milliseconds since 1970). */
export type Exclusions = ReadonlyMap<string, number>
export const noExclusions: Exclusions = new Map()

export interface FailedAttempt {
  readonly model: string
  readonly failure: ModelFailure
  readonly notBefore: number
  /** The history has been made shorter since: it is no longer held against anybody. */
  readonly isVoid?: true
  /** What failed was to sum the history up. */
  readonly compacts?: true
}

/** What the choice of a model depends on. */
interface Candidates {
  readonly agent: Pick<AgentSpec, 'models' | 'limits'>
  /** The time of the last event. */
  readonly at: number
  /** Models that are not asked any more in this turn. */
  readonly dropped: readonly string[]
  /** A model was asked in this turn although every one is left out. */
  readonly probed: boolean
  /** Of this step. */
  readonly failures: readonly FailedAttempt[]
  readonly exclusions: Exclusions
}

interface NextModel {
  readonly model: string
  readonly attempt: number
  readonly notBefore: number
  /** The model is left out for now, as all of them are: one is tried all the same. */
  readonly probes?: true
}

/**
 * Rotates over the agent's models in order. A model that has not failed in this step and is not left out is asked at once; only
 * when there is none is there something to wait for. Where every model is left out for longer than anybody waits, one is tried.
 */
export function nextModel({ agent, at, dropped, probed, failures, exclusions }: Candidates): NextModel | undefined {
  const tooSmall = failures.filter(({ failure, isVoid }) => failure.class === 'context' && !isVoid).map(({ model }) => model)
  const out = tooSmall.length === 0 ? dropped : [...dropped, ...tooSmall]
  const live = out.length === 0 ? agent.models : agent.models.filter((model) => !out.includes(model))
  const attempt = failures.length + 1
  const previous = failures.at(-1)
  if (!previous && exclusions.size === 0) return live[0] === undefined ? undefined : { model: live[0], attempt, notBefore: 0 }
  if (!mayRetry(failures, agent.limits)) return undefined

  const start = previous ? Math.max(0, agent.models.indexOf(previous.model) + (isRetriedOnSameModel(previous) ? 0 : 1)) : 0
  const rotation = [...agent.models.slice(start), ...agent.models.slice(0, start)].filter((model) => live.includes(model))
  const notBefore = (model: string) => failures.findLast((each) => each.model === model)?.notBefore ?? exclusions.get(model) ?? 0
  const [model] = rotation.toSorted((a, b) => notBefore(a) - notBefore(b))
  if (model === undefined) return undefined
  if (notBefore(model) <= at + maxDelayMs) return { model, attempt, notBefore: notBefore(model) }
  if (!probed) return { model, attempt, notBefore: 0, probes: true }
  return previous ? undefined : { model, attempt, notBefore: notBefore(model) }
}

/** The model did nothing wrong: it is asked again before the others. */
const isRetriedOnSameModel = ({ failure, isVoid }: FailedAttempt): boolean => failure.class === 'lost' || isVoid === true

/** A reply that one of our own timeouts cut may have been paid for in full: it is repeated once. */
const maxCutReplies = 2

function mayRetry(failures: readonly FailedAttempt[], { maxRetries }: AgentLimits): boolean {
  const against = failures.filter(({ failure, isVoid }) => failurePolicy[failure.class].counts && !isVoid)
  return against.length <= maxRetries && against.filter(({ failure }) => failure.limit !== undefined).length < maxCutReplies
}
