import {
  type AgentSkills,
  agentSkills,
  type Config,
  type FoundSkills,
  type RegisteredAgent,
  type SkillRequest,
  unknownSkills,
} from '../../agents/index.ts'
import type { Problem } from '../../contracts/index.ts'
import type { AgentDefinition, AgentLoopConfig } from '../../runtime/index.ts'
import { plural } from '../terminal/format-numbers.ts'
import { findProjectSkills, skillOptionsOf } from './find-project-skills.ts'

export interface AgentsWithSkills {
  /** With the names of skills that there are. */
  readonly agents: readonly AgentDefinition[]
  /** Those that somebody wants. */
  readonly skills: NonNullable<AgentLoopConfig['skills']>
  readonly problems: readonly Problem[]
  /** What is wrong with skills, whoever wants them. */
  readonly faults: readonly Problem[]
  /** What a person should know, and can leave as it is. */
  readonly warnings: readonly Problem[]
}

interface Surroundings {
  readonly config: Config
  readonly workingDirectory: string
}

/** What is wrong with the skills that agents want, whether or not they can be used otherwise. */
export function skillProblems(agents: readonly SkillRequest[], surroundings: Surroundings): Omit<AgentsWithSkills, 'agents' | 'skills'> {
  const { problems, faults, warnings } = chosenSkills(agents, surroundings)
  return { problems, faults, warnings }
}

/** Agents with their skills. */
export function agentsWithSkills(agents: readonly RegisteredAgent[], surroundings: Surroundings): AgentsWithSkills {
  const { chosen, ...skilled } = chosenSkills(agents, surroundings)
  return {
    ...skilled,
    agents: chosen.map(({ agent: { definition }, skills }) => ({ ...definition, skills: skills.map(({ name }) => name) })),
  }
}

/** Skills are looked for where an agent wants some. */
function chosenSkills<Agent extends SkillRequest>(
  agents: readonly Agent[],
  { config, workingDirectory }: Surroundings,
): ChosenSkills<Agent> {
  const isWanting = agents.some(({ definition }) => definition.skills.length > 0)
  if (!isWanting) return { chosen: agents.map((agent) => ({ agent, skills: [] })), skills: [], problems: [], faults: [], warnings: [] }
  const found = findProjectSkills(workingDirectory, skillOptionsOf(config))
  const chosen = agents.map((agent) => ({ agent, ...agentSkills(agent, found) }))
  const unknown = unknownSkills(
    config,
    [...found.skills, ...found.disabled].map(({ name }) => name),
  )
  const wanted = new Set(chosen.flatMap(({ skills }) => skills.map(({ name }) => name)))
  return {
    chosen,
    skills: found.skills.filter(({ name }) => wanted.has(name)),
    problems: [...chosen.flatMap(({ problems }) => problems), ...unknown.problems],
    faults: found.problems,
    warnings: [...chosen.flatMap(({ diagnostics }) => diagnostics), ...unknown.diagnostics, ...hiddenSkills(found, wanted)],
  }
}

interface ChosenSkills<Agent> extends Omit<AgentsWithSkills, 'agents'> {
  readonly chosen: readonly { readonly agent: Agent; readonly skills: AgentSkills['skills'] }[]
}

/** Each run tells that there are some; what is wrong with them is told by those who look for it. */
export function inShort(faults: readonly Problem[]): readonly Problem[] {
  const [first] = faults
  if (first === undefined) return []
  const more = faults.length === 1 ? 'a skill' : `skills, here and in ${plural(faults.length - 1, 'more place')}`
  return [{ place: first.place, message: `${more} has errors`, remedy: 'Run troupe skills list.' }]
}

/** A skill of a person's own, or of the machine, in whose place an agent gets one that came with the project. */
function hiddenSkills({ shadowed }: Pick<FoundSkills, 'shadowed'>, wanted: ReadonlySet<string>): readonly Problem[] {
  return shadowed.flatMap(({ card: { name, path }, by, kind }) => {
    if (kind !== 'shadowed' || !wanted.has(name)) return []
    const message = `the skill "${name}" is used from here, and hides the one at ${path}`
    return [{ place: by.path, message, remedy: 'Rename one of them if both are meant.' }]
  })
}
