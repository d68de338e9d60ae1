import type { MaybePromise } from '../../contracts/index.ts'
import type { Performer } from '../../core/index.ts'
import { ask } from '../model/ask.ts'
import type { ActiveSession } from '../session/active-session.ts'

type LazySteps = typeof import('./lazy-steps.ts')

/** Loaded on first use, so that the first model request starts sooner. */
let steps: LazySteps | undefined

async function load(): Promise<LazySteps> {
  steps = await import('./lazy-steps.ts')
  return steps
}

/** After this the steps are synchronous where possible. */
export const loadSteps = (): MaybePromise<unknown> => steps ?? load()

type Step<Given extends unknown[], Found> = (session: ActiveSession, ...given: Given) => MaybePromise<Found>

const lazily =
  <Given extends unknown[], Found>(pick: (loaded: LazySteps) => Step<Given, Found>): Step<Given, Found> =>
  (session, ...given) =>
    steps ? pick(steps)(session, ...given) : load().then((loaded) => pick(loaded)(session, ...given))

export const performer: Performer<ActiveSession> = {
  prepare: (session) => session.ports.tree.prepareTurn(session),
  ask,
  review: lazily(({ review }) => review),
  execute: lazily(({ execute }) => execute),
  wait: lazily(({ wait }) => wait),
  defer: lazily(({ defer }) => defer),
  rest: lazily(({ rest }) => rest),
  skip: lazily(({ skip }) => skip),
  recover: lazily(({ recover }) => recover),
  compact: lazily(({ compact }) => compact),
  finish: lazily(({ finish }) => finish),
}
