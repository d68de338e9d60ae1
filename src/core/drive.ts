import type { MaybePromise, TurnEnding } from '../contracts/index.ts'
import type { Action, AskAction } from './decide.ts'
import { Released, type Session } from './session.ts'
import { turnIdOf } from './session-ids.ts'
import type { ReviewableCall, StartedCall } from './state/state.ts'

/** Performs the actions that reach models, tools and people. Each records what happened; then `drive` decides again. */
export interface Performer<S extends Session> {
  /** Called before a turn begins: brings agent, tools and children up to date. */
  prepare(session: S): MaybePromise<void>
  ask(session: S, action: AskAction): MaybePromise<void>
  /** Checks calls up to their recorded intent. */
  review(session: S, calls: readonly ReviewableCall[]): MaybePromise<void>
  execute(session: S, calls: readonly StartedCall[]): MaybePromise<void>
  /** Waits for a decision; `suspended` if the approver defers all of them. */
  wait(session: S): MaybePromise<'decided' | 'suspended'>
  /** Waits until a request of another session gives back a part of a shared budget. */
  defer(session: S): MaybePromise<void>
  /** Waits until a spawned child has ended, or something else has changed. */
  rest(session: S): MaybePromise<void>
  skip(session: S, action: Extract<Action, { kind: 'skip' }>): MaybePromise<void>
  recover(session: S): MaybePromise<void>
  compact(session: S): MaybePromise<void>
  /** Ends the turn, unless a hook rejects the answer. */
  finish(session: S, ending: TurnEnding): MaybePromise<void>
}

/** Drives a session until it is idle or waits for a person. Throws `Released` if the session was released. */
export async function drive<S extends Session>(session: S, performer: Performer<S>): Promise<'idle' | 'suspended'> {
  for (;;) {
    if (session.isReleased) throw new Released()
    const action = session.decide()
    switch (action.kind) {
      case 'begin': {
        if (session.isRetired) return 'idle'
        const preparing = performer.prepare(session)
        if (preparing) await preparing
        if (session.isReleased) throw new Released()
        // An interrupt begins the turn, to end it.
        if (session.state.turn.kind !== 'open') begin(session, action)
        break
      }
      case 'wait':
        if ((await performer.wait(session)) === 'suspended') return 'suspended'
        break
      case 'idle':
        return 'idle'
      default: {
        const working = perform(session, performer, action)
        if (working) await working
      }
    }
  }
}

type Work = Exclude<Action, { kind: 'begin' | 'wait' | 'idle' }>

function perform<S extends Session>(session: S, performer: Performer<S>, action: Work): MaybePromise<void> {
  switch (action.kind) {
    case 'ask':
      return performer.ask(session, action)
    case 'review':
      return performer.review(session, action.calls)
    case 'execute':
      return performer.execute(session, action.calls)
    case 'skip':
      return performer.skip(session, action)
    case 'recover':
      return performer.recover(session)
    case 'defer':
      return performer.defer(session)
    case 'rest':
      return performer.rest(session)
    case 'compact':
      return performer.compact(session)
    case 'finish':
      return performer.finish(session, action.ending)
    default:
      return action satisfies never
  }
}

export function begin(session: Session, { input }: Pick<Extract<Action, { kind: 'begin' }>, 'input'>): void {
  session.note({ type: 'interaction.turn.started', turnId: turnIdOf(session.state.turns + 1), inputs: [input.clientId] })
}
