import type { AgentLimits, AgentSpec } from '../contracts/index.ts'
import { failurePolicy, maxDelayMs } from './failure-policy.ts'
import type { FailedAttempt } from './state/state.ts'

/** Models that are excluded for now, and until when (milliseconds since 1970). */
export type Exclusions = ReadonlyMap<string, number>
export const noExclusions: Exclusions = new Map()

interface Candidates {
  readonly agent: Pick<AgentSpec, 'models' | 'limits'>
  /** The time of the last event. */
  readonly at: number
  /** Models that are not asked again in this turn. */
  readonly dropped: readonly string[]
  /** In this turn a model was asked although all are excluded. */
  readonly probed: boolean
  /** Failed attempts of this step. */
  readonly failures: readonly FailedAttempt[]
  readonly exclusions: Exclusions
}

interface NextModel {
  readonly model: string
  readonly attempt: number
  readonly notBefore: number
  /** All models are excluded for now. This one is tried anyway. */
  readonly probes?: true
}

/**
 * Rotates over the models of the agent. A model that has not failed in this step and is not excluded is asked without a wait.
 * If all are excluded for longer than the longest wait, one is tried.
 */
export function nextModel({ agent, at, dropped, probed, failures, exclusions }: Candidates): NextModel | undefined {
  const tooSmall = failures.length === 0 ? none : failures.filter(isTooLong).map(({ model }) => model)
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

const none: readonly string[] = []

/** The request does not fit into the context window of the model. */
const isTooLong = ({ failure, isVoid }: FailedAttempt): boolean => failure.class === 'context' && !isVoid

/** The model is not to blame: ask it again before the others. */
const isRetriedOnSameModel = ({ failure, isVoid }: FailedAttempt): boolean => failure.class === 'lost' || isVoid === true

/** A reply that a timeout of ours cut may cost the full price: it is repeated once. */
const maxCutReplies = 2

function mayRetry(failures: readonly FailedAttempt[], { maxRetries }: AgentLimits): boolean {
  const against = failures.filter(({ failure, isVoid }) => failurePolicy[failure.class].usesRetry && !isVoid)
  return against.length <= maxRetries && against.filter(({ failure }) => failure.limit !== undefined).length < maxCutReplies
}
