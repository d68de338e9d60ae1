import type { Problem, SkillCard } from '../../contracts/index.ts'
import type { FoundSkills } from '../../tools/skills/index.ts'
import { selectSkills } from '../../tools/skills/index.ts'
import { locationOf } from '../options/option-values.ts'
import { type AgentDiagnostic, warningOf } from './agent-diagnostic.ts'
import type { RegisteredAgent } from './registered-agent.ts'

export interface AgentSkills {
  /** Sorted by name. */
  readonly skills: readonly SkillCard[]
  /** Skills in the file that do not exist. */
  readonly problems: readonly Problem[]
  /** Missing skills of a foreign file, and patterns without a match. */
  readonly diagnostics: readonly AgentDiagnostic[]
}

/** Selects the skills of an agent. */
export function agentSkills({ definition, disabledSkills, values, dialect, place }: SkillRequest, found: FoundSkills): AgentSkills {
  const { skills, problems, warnings } = selectSkills(found, definition.skills, disabledSkills)
  const option = values.get('skills')
  const placed = ({ place: at, ...problem }: Problem): Problem => {
    const [, key = 'skills', index = '0'] = /^(skills|disabledSkills)\[(\d+)\]$/.exec(at) ?? []
    const list = values.get(key as 'skills' | 'disabledSkills')
    return { ...problem, ...(list ? locationOf(list, Number(index)) : { place }) }
  }
  const isForeign = dialect !== 'troupe' && option?.precedence !== 'override'
  return {
    skills,
    problems: isForeign ? [] : problems.map(placed),
    diagnostics: [
      ...(isForeign ? problems.map((problem) => warningOf(placed(problem), 'foreign_agent')) : []),
      ...warnings.map((problem) => warningOf(placed(problem), 'agent_setting_idle')),
    ],
  }
}

/** A usable agent, or the readable part of an invalid one. */
export interface SkillRequest extends Pick<RegisteredAgent, 'disabledSkills' | 'values' | 'dialect' | 'place'> {
  readonly definition: Pick<RegisteredAgent['definition'], 'skills'>
}
