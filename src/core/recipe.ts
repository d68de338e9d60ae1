import { clientToolName, type ModelRequest, plainTextInstruction, type ToolChoice, type ToolSpec } from '../contracts/index.ts'
import { offeredName } from '../policy/tool-name-patterns.ts'
import type { Headroom } from './budget/accounts.ts'
import { type Action, decide } from './decide.ts'
import type { Exclusions } from './next-model.ts'
import type { SessionState } from './state/state.ts'

/** The tools of one step, and what they add to the prompt. */
export interface Offering {
  readonly specs: readonly ToolSpec[]
  readonly instructions: string
}

/** What a session does next, and what its model is shown. Both functions are pure. */
export interface Recipe {
  decide(state: SessionState, headroom: Headroom, exclusions: Exclusions): Action
  assemble(state: SessionState, offering: Offering): ModelRequest
}

const systemPrompt = (prompt: string, { instructions }: Offering): string => (instructions === '' ? prompt : `${prompt}\n\n${instructions}`)

/** By the name that is offered. A tool that is not offered cannot be forced. */
function chosen(choice: ToolChoice | undefined, { specs }: Offering): ToolChoice {
  if (choice === undefined || specs.length === 0) return 'auto'
  if (typeof choice === 'string') return choice
  // The agent may have a tool of that name: then the client's has a prefix.
  const names = [clientToolName(choice.tool, () => true), choice.tool].map(offeredName)
  const tool = names.find((name) => specs.some((spec) => spec.name === name))
  return tool === undefined ? 'auto' : { tool }
}

/** The loop that Troupe runs by default. */
export const agentLoop: Recipe = {
  decide,
  assemble(state, offering) {
    const { prompt, parameters, output } = state.agent
    const request: ModelRequest = {
      system: systemPrompt(output.format === 'text' ? `${prompt}\n\n${plainTextInstruction}` : prompt, offering),
      messages: state.history.toArray(),
      tools: offering.specs,
      toolChoice: state.turn.kind === 'open' && state.turn.last !== undefined ? 'none' : chosen(state.toolChoice, offering),
      parameters,
    }
    return output.format === 'json' ? { ...request, output: output.schema ? { schema: output.schema } : {} } : request
  },
}
