import type { MaybePromise, TurnEnding } from '../contracts/index.ts'
import type { Action, AskAction } from './decide.ts'
import { turnIdOf } from './ids.ts'
import { Released } from './released.ts'
import type { Session } from './session.ts'
import type { ReviewableCall, StartedCall } from './state.ts'

/**
 * What takes time: everything that reaches models, tools and people. Each records what happened; `drive` looks again,
 * at once where nothing had to be waited for.
 */
export interface Performer<S extends Session> {
  ask(session: S, action: AskAction): Promise<void>
  /** Takes calls through the pipeline up to their intent. */
  review(session: S, calls: readonly ReviewableCall[]): MaybePromise<void>
  execute(session: S, calls: readonly StartedCall[]): MaybePromise<void>
  /** Waits for a decision, or finds that everybody has put it off. */
  wait(session: S): MaybePromise<'decided' | 'suspended'>
  /** Waits until a request that holds some of a shared budget has ended, or something else has changed. */
  defer(session: S): MaybePromise<void>
  skip(session: S, action: Extract<Action, { kind: 'skip' }>): MaybePromise<void>
  recover(session: S): MaybePromise<void>
  compact(session: S): MaybePromise<void>
  /** Ends the turn, unless a hook has something against it. */
  finish(session: S, ending: TurnEnding): MaybePromise<void>
}

/** Drives a session until there is nothing to do, or until only a person can go on. Throws `Released` where it was released. */
export async function drive<S extends Session>(session: S, performer: Performer<S>): Promise<'idle' | 'suspended'> {
  for (;;) {
    if (session.isReleased) throw new Released()
    const action = session.decide()
    switch (action.kind) {
      case 'begin':
        if (session.isRetired) return 'idle'
        begin(session, action)
        break
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
    case 'compact':
      return performer.compact(session)
    case 'finish':
      return performer.finish(session, action.ending)
    default:
      return action satisfies never
  }
}

function begin(session: Session, { input }: Extract<Action, { kind: 'begin' }>): void {
  session.note({ type: 'interaction.turn.started', turnId: turnIdOf(session.state.turns + 1), inputs: [input.clientId] })
}
