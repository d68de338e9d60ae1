import type { MaybePromise } from '../contracts/index.ts'
import type { Action, AskAction, SkipReason } from './decide.ts'
import { finish } from './finish.ts'
import { turnName } from './names.ts'
import { recover } from './recover.ts'
import type { Session } from './session.ts'
import type { Call, StartedCall } from './state.ts'

/** What takes time: everything that reaches models, tools and people. Each records what happened; `drive` looks again. */
export interface Performer {
  ask(action: AskAction): Promise<void>
  review(calls: readonly Call[]): MaybePromise<void>
  execute(calls: readonly StartedCall[]): Promise<unknown>
  /** Ends calls that never ran. */
  skip(calls: readonly Call[], reason: SkipReason): void
  /** True when the decision was put off and nobody need stay. */
  wait(): Promise<boolean>
}

/** Drives a session until there is nothing to do, or until only a person can go on. */
export async function drive(session: Session, performer: Performer): Promise<'idle' | 'suspended'> {
  for (;;) {
    const action = session.recipe.decide(session.state)
    switch (action.kind) {
      case 'begin':
        begin(session, action)
        break
      case 'ask':
        await performer.ask(action)
        break
      case 'review': {
        const reviewing = performer.review(action.calls)
        if (reviewing) await reviewing
        break
      }
      case 'execute':
        await performer.execute(action.calls)
        break
      case 'skip':
        performer.skip(action.calls, action.reason)
        break
      case 'recover':
        recover(session)
        break
      case 'wait':
        if (await performer.wait()) return 'suspended'
        break
      case 'finish':
        await finish(session, action.ending)
        break
      case 'idle':
        return 'idle'
      default:
        return action satisfies never
    }
  }
}

function begin(session: Session, { input }: Extract<Action, { kind: 'begin' }>): void {
  session.note({ type: 'interaction.turn.started', turnId: turnName(session.state.turns + 1), inputs: [input.clientId] })
  session.summarise('running')
}
