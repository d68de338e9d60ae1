import type { MaybePromise } from '../../contracts/index.ts'
import type { Performer } from '../../core/index.ts'
import { ask } from '../model/ask.ts'
import type { ActiveSession } from './active-session.ts'

type LaterSteps = typeof import('./lazy-steps.ts')

/** Loaded once there is something to do but to ask, and at hand from then on. So a program asks its first model sooner. */
let steps: LaterSteps | undefined

async function load(): Promise<LaterSteps> {
  steps = await import('./lazy-steps.ts')
  return steps
}

/** Sees to it that nothing but what is done is waited for. */
export const stepsAtHand = (): MaybePromise<unknown> => steps ?? load()

type Step<Given extends unknown[], Found> = (session: ActiveSession, ...given: Given) => MaybePromise<Found>

const later =
  <Given extends unknown[], Found>(pick: (loaded: LaterSteps) => Step<Given, Found>): Step<Given, Found> =>
  (session, ...given) =>
    steps ? pick(steps)(session, ...given) : load().then((loaded) => pick(loaded)(session, ...given))

/** What the loop leaves to others. */
export const performer: Performer<ActiveSession> = {
  ask,
  review: later(({ review }) => review),
  execute: later(({ execute }) => execute),
  wait: later(({ wait }) => wait),
  defer: later(({ defer }) => defer),
  skip: later(({ skip }) => skip),
  recover: later(({ recover }) => recover),
  compact: later(({ compact }) => compact),
  finish: later(({ finish }) => finish),
}
