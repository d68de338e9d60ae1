import type { ModelRequest } from '../contracts/index.ts'
import { type Action, decide } from './decide.ts'
import type { SessionState } from './state.ts'
import type { Offer } from './tool-registry.ts'

/** How a session thinks: what to do next, and what a model is shown. Both pure, so that a test needs no model. */
export interface Recipe {
  readonly name: string
  decide(state: SessionState): Action
  /** `offer` has the tools of this step. */
  assemble(state: SessionState, offer: Offer): ModelRequest
}

/** The loop that Troupe runs by default. */
export const agentLoop: Recipe = {
  name: 'agent-loop',
  decide,
  assemble(state, offer) {
    const { prompt, parameters } = state.agent
    return {
      system: offer.instructions === '' ? prompt : `${prompt}\n\n${offer.instructions}`,
      messages: state.history.toArray(),
      tools: offer.specs,
      toolChoice: state.turn.kind === 'open' && state.turn.last !== undefined ? 'none' : 'auto',
      parameters,
    }
  },
}
