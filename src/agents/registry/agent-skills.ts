import type { Problem, SkillCard } from '../../contracts/index.ts'
import { locationOf } from '../agent-file/option-values.ts'
import type { FoundSkills } from '../skills/find-skills.ts'
import { selectSkills } from '../skills/select-skills.ts'
import { type AgentDiagnostic, warningOf } from './agent-diagnostic.ts'
import type { RegisteredAgent } from './registered-agent.ts'

export interface AgentSkills {
  /** By name; their names are what the runtime takes as the `skills` of the agent. */
  readonly skills: readonly SkillCard[]
  /** Skills that its file wants and that there are not, each where it is named. */
  readonly problems: readonly Problem[]
  /** The same of a file of another program, which may mean skills that are not here; and patterns that fit none. */
  readonly diagnostics: readonly AgentDiagnostic[]
}

/** The skills of an agent out of those that were found. */
export function agentSkills({ definition, disabledSkills, values, dialect, place }: SkillRequest, found: FoundSkills): AgentSkills {
  const { skills, problems, warnings } = selectSkills(found, definition.skills, disabledSkills)
  const said = values.get('skills')
  const placed = ({ place: at, ...problem }: Problem): Problem => {
    const [, key = 'skills', index = '0'] = /^(skills|disabledSkills)\[(\d+)\]$/.exec(at) ?? []
    const list = values.get(key as 'skills' | 'disabledSkills')
    return { ...problem, ...(list ? locationOf(list, Number(index)) : { place }) }
  }
  const isForeign = dialect !== 'troupe' && said?.rank !== 'override'
  return {
    skills,
    problems: isForeign ? [] : problems.map(placed),
    diagnostics: [
      ...(isForeign ? problems.map((problem) => warningOf(placed(problem), 'foreign_agent')) : []),
      ...warnings.map((problem) => warningOf(placed(problem), 'agent_setting_idle')),
    ],
  }
}

/** An agent as far as it wants skills: one that can be used, or what could be read of one that cannot. */
export interface SkillRequest extends Pick<RegisteredAgent, 'disabledSkills' | 'values' | 'dialect' | 'place'> {
  readonly definition: Pick<RegisteredAgent['definition'], 'skills'>
}
