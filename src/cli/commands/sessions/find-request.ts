import { type InteractionEvent, type ModelRequestPlace, type Problem, type SessionId, TroupeError } from '../../../contracts/index.ts'
import { nearestNames } from '../../../util/nearest-names.ts'
import { plural } from '../../../util/plural.ts'
import type { SessionsInvocation } from '../../arguments/project-invocations.ts'
import { printable } from '../../terminal/printable.ts'

/** A step with a model request. */
interface Requested {
  readonly stepId: string
  readonly model: string
  readonly attempts: number
}

const maxNamed = 20

/**
 * Finds the model request that a command line names, in the events of a tree.
 *
 * @throws TroupeError `usage` with the children or steps that exist.
 */
export function findRequest(
  events: readonly InteractionEvent[],
  { step, child, attempt }: NonNullable<SessionsInvocation['request']>,
): Required<Omit<ModelRequestPlace, 'attempt'>> & Pick<ModelRequestPlace, 'attempt'> {
  const number = attempt === undefined ? undefined : /^[1-9]\d{0,8}$/.test(attempt) ? Number(attempt) : Number.NaN
  if (Number.isNaN(number))
    throw wrong([
      { place: '--attempt', message: `expected a number from 1 on, not ${JSON.stringify(attempt)}`, remedy: 'Write it like --attempt 1.' },
    ])
  const sessionId = child === undefined ? events[0]?.sessionId : findChild(events, child)
  const steps = stepsOf(events, sessionId)
  // The number of a step is enough if only one has it.
  const [byNumber, ...more] = /^\d+$/.test(step) ? steps.filter(({ stepId }) => stepId.endsWith(`.s${step}`)) : []
  const found = steps.find(({ stepId }) => stepId === step) ?? (more.length === 0 ? byNumber : undefined)
  if (!found || sessionId === undefined) throw unknownStep(step, steps)
  return { sessionId, stepId: found.stepId, ...(number !== undefined && { attempt: number }) }
}

function stepsOf(events: readonly InteractionEvent[], sessionId: SessionId | undefined): readonly Requested[] {
  const steps = new Map<string, Requested>()
  for (const event of events) {
    if (event.type !== 'interaction.step.started' || event.sessionId !== sessionId || event.stepId === undefined) continue
    const attempts = (steps.get(event.stepId)?.attempts ?? 0) + 1
    steps.set(event.stepId, { stepId: event.stepId, model: event.model, attempts })
  }
  return [...steps.values()]
}

/** By session id or agent path, with or without `root/`. */
function findChild(events: readonly InteractionEvent[], child: string): SessionId {
  const paths = new Map(events.map(({ sessionId, agentPath }) => [sessionId, agentPath]))
  const found = [...paths].filter(([id, path]) => id === child || path === child || path === `root/${child}`)
  const [only, ...others] = found
  if (only && others.length === 0) return only[0]
  const named = (found.length > 0 ? found : [...paths].filter(([, path]) => path !== 'root')).slice(0, maxNamed)
  const message = only
    ? `${found.length} children have the agent path ${JSON.stringify(child)}`
    : `there is no child ${JSON.stringify(child)}`
  throw wrong([
    {
      place: '--child',
      message,
      remedy: named.length > 0 ? 'Name one of the following by its ID.' : 'The session has no children: leave it out.',
    },
    ...named.map(([id, path]) => ({ place: id, message: printable(path) })),
  ])
}

function unknownStep(step: string, steps: readonly Requested[]): TroupeError {
  const shown = steps.slice(0, maxNamed)
  const [nearest] = nearestNames(
    step,
    steps.map(({ stepId }) => stepId),
  )
  const which = steps.length === 0 ? 'The session has sent no model request.' : 'Name one of the following.'
  return wrong([
    {
      place: '--request',
      message: `there is no step ${JSON.stringify(step)}`,
      remedy: nearest === undefined ? which : `Did you mean ${nearest}?`,
    },
    ...shown.map(({ stepId, model, attempts }) => ({
      place: stepId,
      message: printable(`${model}${attempts > 1 ? ` · ${plural(attempts, 'attempt')}` : ''}`),
    })),
    ...(steps.length > shown.length ? [{ place: '…', message: `${steps.length - shown.length} more steps` }] : []),
  ])
}

const wrong = (problems: readonly Problem[]): TroupeError => new TroupeError('usage', 'There is no such model request.', { problems })
