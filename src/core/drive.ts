import { consult, isPutOff, openRequests } from './approvals.ts'
import { ask } from './ask.ts'
import type { Action } from './decide.ts'
import { execute } from './execute.ts'
import { finish } from './finish.ts'
import { turnName } from './names.ts'
import { recover } from './recover.ts'
import { refusal } from './results.ts'
import { review } from './review.ts'
import type { Session } from './session.ts'

/** Drives a session until there is nothing to do, or until only a person can go on. */
export async function drive(session: Session): Promise<'idle' | 'suspended'> {
  for (;;) {
    const action = session.ports.recipe.decide(session.state)
    switch (action.kind) {
      case 'begin':
        begin(session, action)
        break
      case 'ask':
        await ask(session, action)
        break
      case 'review': {
        const reviewing = review(session, action.calls)
        if (reviewing) await reviewing
        break
      }
      case 'execute':
        await execute(session, action.calls)
        break
      case 'skip':
        skip(session, action)
        break
      case 'recover':
        recover(session)
        break
      case 'wait':
        if (await wait(session)) return 'suspended'
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

const skipped = {
  interrupted: { class: 'cancelled', message: 'It was not run: the turn was interrupted.' },
  stopped: { class: 'cancelled', message: 'It was not run: the person asked to stop.', remedy: 'Answer with what you have.' },
  denied: { class: 'denied', message: 'It was not run: the person ended the turn.' },
} as const

function skip(session: Session, { calls, reason }: Extract<Action, { kind: 'skip' }>): void {
  const { step } = session.turn
  if (step.kind !== 'calling') return
  for (const call of calls) {
    for (const draft of refusal(call, skipped[reason], 'skipped')) session.note({ itemId: call.itemId, ...draft }, step.id)
  }
}

/** Waits for a decision; true when it was put off and nobody need stay. */
async function wait(session: Session): Promise<boolean> {
  consult(session)
  if (isPutOff(session)) {
    if (!session.turn.suspended) {
      session.note({
        type: 'interaction.turn.suspended',
        reason: 'approval',
        approvals: openRequests(session).map((request) => request.id),
      })
    }
    session.summarise('suspended')
    await session.flush()
    return isPutOff(session)
  }
  const woken = session.woken()
  await session.flush()
  await woken
  return false
}
