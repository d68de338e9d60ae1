import type { Problem } from '../../contracts/index.ts'
import type { AgentDefinition, AgentLoopConfig } from '../../runtime/index.ts'
import { findProjectRoot } from '../../tools/project-context/index.ts'
import { adminSkillDirectories, type FoundSkills, findSkills, userSkillDirectories } from '../../tools/skills/index.ts'
import { plural } from '../../util/plural.ts'
import type { Config } from '../config/config.ts'
import { sandboxOf, skillsOf } from '../config/section-values.ts'
import { unknownSkills } from '../config/unknown-names.ts'
import type { Environment } from '../config/variables/resolve-placeholders.ts'
import { type AgentSkills, agentSkills, type SkillRequest } from '../registry/agent-skills.ts'
import type { RegisteredAgent } from '../registry/registered-agent.ts'
import { homeFolder } from '../setup/data-folder.ts'
import type { ProjectPlace } from '../setup/project-place.ts'

interface AgentsWithSkills {
  /** With the names of the skills that were found. */
  readonly agents: readonly AgentDefinition[]
  /** The skills that an agent uses. */
  readonly skills: NonNullable<AgentLoopConfig['skills']>
  /** Unknown skills that an agent or the configuration names. */
  readonly problems: readonly Problem[]
  /** Errors in skill files, used or not. */
  readonly fileProblems: readonly Problem[]
  readonly warnings: readonly Problem[]
}

interface SkillContext {
  readonly config: Config
  readonly environment: Environment
  readonly workingDirectory: string
}

/** Problems of the skills that agents name. Also for agents with other errors. */
export function skillProblems(agents: readonly SkillRequest[], context: SkillContext): Omit<AgentsWithSkills, 'agents' | 'skills'> {
  const { problems, fileProblems, warnings } = resolveSkills(agents, context)
  return { problems, fileProblems, warnings }
}

export function agentsWithSkills(agents: readonly RegisteredAgent[], context: SkillContext): AgentsWithSkills {
  const { resolved, ...skilled } = resolveSkills(agents, context)
  return {
    ...skilled,
    agents: resolved.map(({ agent: { definition }, skills }) => ({ ...definition, skills: skills.map(({ name }) => name) })),
  }
}

/** Searches for skills only if an agent names some. */
function resolveSkills<Agent extends SkillRequest>(
  agents: readonly Agent[],
  { config, workingDirectory, environment }: SkillContext,
): ResolvedSkills<Agent> {
  const usesSkills = agents.some(({ definition }) => definition.skills.length > 0)
  if (!usesSkills)
    return { resolved: agents.map((agent) => ({ agent, skills: [] })), skills: [], problems: [], fileProblems: [], warnings: [] }
  const found = findProjectSkills({ cwd: workingDirectory, env: environment }, skillOptionsOf(config))
  const resolved = agents.map((agent) => ({ agent, ...agentSkills(agent, found) }))
  const unknown = unknownSkills(
    config,
    [...found.skills, ...found.disabled].map(({ name }) => name),
  )
  const used = new Set(resolved.flatMap(({ skills }) => skills.map(({ name }) => name)))
  return {
    resolved,
    skills: found.skills.filter(({ name }) => used.has(name)),
    problems: [...resolved.flatMap(({ problems }) => problems), ...unknown.problems],
    fileProblems: found.problems,
    warnings: [...resolved.flatMap(({ diagnostics }) => diagnostics), ...unknown.diagnostics, ...hiddenSkills(found, used)],
  }
}

interface ResolvedSkills<Agent> extends Omit<AgentsWithSkills, 'agents'> {
  readonly resolved: readonly { readonly agent: Agent; readonly skills: AgentSkills['skills'] }[]
}

/** One line for all; `troupe skills list` shows the details. */
export function summarizeProblems(fileProblems: readonly Problem[]): readonly Problem[] {
  const [first] = fileProblems
  if (first === undefined) return []
  const count = fileProblems.length - 1
  const more = count === 0 ? '' : ` (and ${plural(count, 'more problem')})`
  return [{ place: first.place, message: `the skill has errors${more}`, remedy: 'For details: troupe skills list' }]
}

/** Skills of the user or the system that a skill of the project replaces. */
function hiddenSkills({ shadowed }: Pick<FoundSkills, 'shadowed'>, used: ReadonlySet<string>): readonly Problem[] {
  return shadowed.flatMap(({ card: { name, path }, by, kind }) => {
    if (kind !== 'shadowed' || !used.has(name)) return []
    const message = `this skill "${name}" shadows the one at ${path}`
    return [{ place: by.path, message, remedy: 'Rename one of them to use both.' }]
  })
}

interface MachineSkills {
  /** Folders of installed packages. */
  readonly systemDirectories: readonly string[]
  readonly adminDirectories: readonly string[]
}

export const machineSkills: MachineSkills = {
  systemDirectories: ['/usr/local/share/ai-agent/skills', '/usr/share/ai-agent/skills'],
  adminDirectories: adminSkillDirectories,
}

interface SkillOptions {
  readonly directories?: readonly string[]
  readonly disabled?: readonly string[]
  /** Folders that commands may write to. */
  readonly writable?: readonly string[]
}

export const skillOptionsOf = (config: Config): SkillOptions => ({ ...skillsOf(config), writable: sandboxOf(config).writable })

/** The skills that agents in this folder can load, nearest location first. */
export function findProjectSkills(
  { cwd, env }: ProjectPlace,
  { directories = [], disabled = [], writable = [] }: SkillOptions = {},
  machine = machineSkills,
): FoundSkills {
  return findSkills({
    workingDirectory: cwd,
    projectRoot: findProjectRoot(cwd),
    userDirectories: [...directories, ...userSkillDirectories(homeFolder(env))],
    ...machine,
    disabled,
    writable,
  })
}
