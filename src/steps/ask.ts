import type { Model, ModelRequest } from '../contracts/index.ts'
import { type AskAction, stepIdOf } from '../core/index.ts'
import { Interrupt } from '../util/interrupt.ts'
import type { ActiveSession } from './active-session.ts'
import { Attempt } from './attempt.ts'
import { longestDelayMs } from './retry-delay.ts'
import { stepStarted } from './step-events.ts'

// One attempt at one step. `[results + step.started]` is handed to the journal and not waited for: the model may
// think meanwhile, and whoever acts on the reply waits for everything before it.

export function ask(session: ActiveSession, action: AskAction): Promise<void> {
  return action.notBefore > 0 && !session.hasPaused(action) ? pause(session, action) : attempt(session, action)
}

function attempt(session: ActiveSession, action: AskAction): Promise<void> {
  const { turn } = session
  const stepId = stepIdOf(turn.id, action.attempt === 1 ? turn.steps + 1 : turn.steps)
  const model: Model = session.model(action.model)
  session.record(stepStarted(session, stepId, { action, model }))
  // Handed over, not awaited.
  void session.flush()
  const request = session.recipe.assemble(session.state, session.offer(model))
  const asker = Promise.withResolvers<void>()
  new Attempt(session, model, { stepId, action }).begin(capped(session, request, action), asker)
  return asker.promise
}

/** Waits before a further attempt. Whatever happens meanwhile, the loop looks again before it asks. */
async function pause(session: ActiveSession, action: AskAction): Promise<void> {
  const woken = session.woken()
  await session.flush()
  const interrupt = new Interrupt(session.interrupt)
  const left = session.timeLeft ?? Number.POSITIVE_INFINITY
  const ms = Math.max(0, Math.min(action.notBefore - session.now, longestDelayMs, left))
  const cancel = session.clock.after(ms, () => {
    session.rememberPause(action)
    interrupt.fire('over')
  })
  await Promise.race([woken, new Promise<void>((resolve) => interrupt.listen(resolve))])
  cancel()
  interrupt.close()
}

/** Under a budget the provider is told the cap, so that it cannot overspend by talking. */
function capped(session: ActiveSession, request: ModelRequest, { reservation }: AskAction): ModelRequest {
  const { maxTokens, maxSessionTokens, maxCostUsd } = session.state.agent.limits
  const { tokens, costUsd } = session.headroom
  if ((maxTokens ?? maxSessionTokens ?? maxCostUsd ?? tokens ?? costUsd) === undefined) return request
  return { ...request, parameters: { ...request.parameters, maxOutputTokens: reservation.output } }
}
