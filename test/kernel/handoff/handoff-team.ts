import type { InteractionEvent, JsonObject } from '../../../src/contracts/index.ts'
import type { HandoffLimits } from '../../../src/kernel/handoff/handoff-rules.ts'
import { handoffTool, returnControlTool } from '../../../src/kernel/handoff/handoff-tool.ts'
import { resultsOf, type Said, type Script, type Team, type TeamOptions, team, textOf } from '../../subagents/team.ts'

/** What the coach answers to a text; by default it repeats it, and returns control at `done`. */
export const echo: Script = (request) => {
  const text = textOf(request)
  return text === 'done' ? returned('all set') : { text: `heard ${text}` }
}

export const returned = (report: string): Said => ({ calls: [{ tool: 'return_control', input: { report } }] })

const defaults: HandoffLimits = { maxTurns: 10, maxTokensPerInvocation: 50_000, timeBudgetMs: 120_000, idleMs: 1_800_000 }

/** An orchestrator that hands the person over to a coach with its first step. */
export function handoffTeam(
  script: Script = echo,
  {
    limits,
    input = { task: 'Train' },
    ...options
  }: TeamOptions & { readonly limits?: Partial<HandoffLimits>; readonly input?: JsonObject } = {},
): Team {
  return team(
    {
      boss: {
        agents: ['coach'],
        script: (request) => {
          const results = resultsOf(request)
          return results.length === 0
            ? { calls: [{ tool: 'agent__coach', input }] }
            : { text: `boss: ${results.at(-1)} | ${textOf(request)}` }
        },
      },
      coach: { script, tools: ['return_control'] },
    },
    { ...options, tools: [handoffTool({ agent: 'coach', description: 'Trains.', limits: { ...defaults, ...limits } }), returnControlTool] },
  )
}

export const types = (events: readonly InteractionEvent[]): readonly string[] => events.map(({ type }) => type.replace('interaction.', ''))
