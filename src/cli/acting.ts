import {
  agentSkills,
  approvalsOf,
  type Config,
  contextOf,
  findProjectRoot,
  hooksOf,
  projectContext,
  type RegisteredAgent,
  sandboxOf,
  skillsOf,
} from '../agents/index.ts'
import { type ApprovalPolicy, type Hook, type Problem, type Sandbox, type SandboxPolicy, TroupeError } from '../contracts/index.ts'
import type { AgentDefinition, AgentLoopConfig } from '../runtime/index.ts'
import { systemClock } from '../runtime/index.ts'
import type { WorkspaceKit } from '../tools/kit/index.ts'
import type { WhenNobodyIsThere } from './approvals/approver-for.ts'
import { patternProblems } from './approvals/flag-rules.ts'
import { builtinTools } from './builtin-tools.ts'
import { findProjectSkills } from './find-project-skills.ts'
import type { Host } from './host.ts'

/** What agents act with, what they know of the project, and who has a say in it. */
export interface Acting {
  /** With the names of skills that there are. */
  readonly agents: readonly AgentDefinition[]
  readonly shared: Pick<AgentLoopConfig, 'tools' | 'approvals' | 'skills' | 'context'>
  readonly sandbox: Sandbox | undefined
  readonly hooks: readonly Hook[]
  readonly whenNobodyIsThere: WhenNobodyIsThere
  /** What approvals for the project are kept under. */
  readonly project: string
  /** What a person should know about it. */
  readonly notices: readonly string[]
}

export interface ActingWishes {
  readonly host: Pick<Host, 'env'>
  readonly config: Config
  readonly workingDirectory: string
  /** Patterns of the command line. */
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  /** What no command may see. */
  readonly hidden: readonly string[]
}

/** @throws TroupeError with every problem at once; nothing is started. */
export async function actingWith(agents: readonly RegisteredAgent[], wishes: ActingWishes): Promise<Acting> {
  const { host, config, workingDirectory, allow, deny, hidden } = wishes
  const wrong: Problem[] = [...patternProblems('--allow', allow), ...patternProblems('--deny', deny)]
  const project = findProjectRoot(workingDirectory)
  const skilled = withSkills(agents, { config, workingDirectory })
  const hooks = await configuredHooks(config, { host, wrong })
  wrong.push(...skilled.problems)
  if (wrong.length > 0) throw new TroupeError('config_invalid', 'Not everything that agents are to act with is there.', { problems: wrong })
  const { policies, onUnavailable } = approvalsOf(config)
  const policy = sandboxOf(config)
  const builtin = await builtinFor(agents, { host, workingDirectory, policy, hidden })
  const told = contextOf(config).agentsMd ? projectContext({ workingDirectory, projectRoot: project }) : { texts: [], problems: [] }
  return {
    agents: skilled.agents,
    shared: {
      tools: builtin?.tools ?? [],
      approvals: [...flagPolicy(allow, deny), ...policies],
      skills: skilled.skills,
      context: told.texts,
    },
    sandbox: builtin?.sandbox,
    hooks,
    whenNobodyIsThere: onUnavailable ?? 'suspend',
    project,
    notices: [...skilled.notices, ...told.problems.map(oneLine), ...(builtin && policy.mode === 'off' ? [sandboxOff] : [])],
  }
}

const sandboxOff = 'The sandbox is switched off: commands run with all that you may do yourself.'

const flagPolicy = (allow: readonly string[], deny: readonly string[]): readonly ApprovalPolicy[] =>
  allow.length + deny.length === 0
    ? []
    : [{ name: 'the command line', rules: [...allow.map((each) => ({ allow: each })), ...deny.map((each) => ({ deny: each }))] }]

/** They are loaded where somebody may use them. */
async function builtinFor(
  agents: readonly RegisteredAgent[],
  {
    host,
    workingDirectory,
    policy,
    hidden,
  }: Pick<ActingWishes, 'host' | 'workingDirectory' | 'hidden'> & { readonly policy: SandboxPolicy },
): Promise<WorkspaceKit | undefined> {
  if (agents.every(({ definition }) => definition.tools.length === 0)) return undefined
  return builtinTools(host, { workspace: workingDirectory, policy, hidden })
}

interface Skilled {
  readonly agents: readonly AgentDefinition[]
  readonly skills: NonNullable<AgentLoopConfig['skills']>
  readonly problems: readonly Problem[]
  readonly notices: readonly string[]
}

/** Skills are looked for where an agent wants some. */
function withSkills(
  agents: readonly RegisteredAgent[],
  { config, workingDirectory }: Pick<ActingWishes, 'config' | 'workingDirectory'>,
): Skilled {
  const wanting = agents.some(({ definition }) => definition.skills.length > 0)
  if (!wanting) return { agents: agents.map(({ definition }) => ({ ...definition, skills: [] })), skills: [], problems: [], notices: [] }
  const found = findProjectSkills(workingDirectory, skillsOf(config))
  const chosen = agents.map((agent) => ({ agent, ...agentSkills(agent, found) }))
  return {
    agents: chosen.map(({ agent: { definition }, skills }) => ({ ...definition, skills: skills.map(({ name }) => name) })),
    skills: found.skills.filter(({ name }) => chosen.some(({ skills }) => skills.some((skill) => skill.name === name))),
    problems: chosen.flatMap(({ problems }) => problems),
    notices: [...found.problems, ...chosen.flatMap(({ diagnostics }) => diagnostics)].map(oneLine),
  }
}

const oneLine = ({ place, message, remedy }: Problem): string => `${place}: ${message}${remedy === undefined ? '' : `. ${remedy}`}`

async function configuredHooks(
  config: Config,
  { host, wrong }: { readonly host: Pick<Host, 'env'>; readonly wrong: Problem[] },
): Promise<readonly Hook[]> {
  const configured = hooksOf(config)
  if (configured.length === 0) return []
  const { hooksFrom } = await import('../tools/hooks/index.ts')
  const hooks: Hook[] = []
  for (const { definition, baseDir, place } of configured) {
    try {
      hooks.push(...(await hooksFrom([definition], { baseDir, place, clock: systemClock, environment: plainEnvironment(host.env) })))
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      wrong.push(...(error.problems.length > 0 ? error.problems : [{ place, message: error.message }]))
    }
  }
  return hooks
}

const passedOn = ['PATH', 'HOME', 'LANG', 'TMPDIR']

/** What a program of a person's own needs to be found and run, and no keys. */
function plainEnvironment(env: Host['env']): { readonly [name: string]: string } {
  return Object.fromEntries(passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}
