import { homedir } from 'node:os'
import { delimiter, isAbsolute, join, relative } from 'node:path'
import {
  agentSkills,
  approvalsOf,
  type Config,
  contextOf,
  type FoundSkills,
  findProjectRoot,
  hooksOf,
  projectContext,
  type RegisteredAgent,
  readTrust,
  sandboxOf,
  skillsOf,
  type TrustRecords,
} from '../agents/index.ts'
import { type ApprovalPolicy, type Hook, type Problem, type Sandbox, type SandboxPolicy, TroupeError } from '../contracts/index.ts'
import type { AgentDefinition, AgentLoopConfig } from '../runtime/index.ts'
import { systemClock } from '../runtime/index.ts'
import type { WorkspaceKit } from '../tools/kit/index.ts'
import type { WhenNobodyIsThere } from './approvals/approver-for.ts'
import { patternProblems } from './approvals/flag-rules.ts'
import { builtinTools } from './builtin-tools.ts'
import { trustPlaceOf } from './config-setup.ts'
import { homeFolder } from './data-folder.ts'
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
  /** What nobody may see: journals, trust, approvals. */
  readonly hidden: readonly string[]
}

/** @throws TroupeError with every problem at once; nothing is started. */
export async function actingWith(agents: readonly RegisteredAgent[], wishes: ActingWishes): Promise<Acting> {
  const { host, config, workingDirectory, allow, deny, hidden } = wishes
  const wrong: Problem[] = [...patternProblems('--allow', allow), ...patternProblems('--deny', deny)]
  const project = findProjectRoot(workingDirectory)
  const skilled = withSkills(agents, { config, workingDirectory })
  const { hooks, files: guarded } = await configuredHooks(config, { host, wrong, workingDirectory })
  wrong.push(...skilled.problems)
  if (wrong.length > 0) throw new TroupeError('config_invalid', 'Not everything that agents are to act with is there.', { problems: wrong })
  const { policies, onUnavailable } = approvalsOf(config)
  const policy = sandboxOf(config)
  const builtin = await builtinFor(agents, { host, workingDirectory, policy, hidden: withOwnFolder(hidden, workingDirectory), guarded })
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
  { host, workingDirectory, ...walls }: Pick<ActingWishes, 'host' | 'workingDirectory' | 'hidden'> & Walls,
): Promise<WorkspaceKit | undefined> {
  if (agents.every(({ definition }) => definition.tools.length === 0)) return undefined
  return builtinTools(host, { workspace: workingDirectory, ...walls })
}

interface Walls {
  readonly policy: SandboxPolicy
  readonly guarded: readonly string[]
}

/** A person's own configuration counts without being asked about, so no agent may write it: unless it is what is worked on. */
function withOwnFolder(hidden: readonly string[], workingDirectory: string): readonly string[] {
  const own = join(homeFolder(homedir()), '.ai-agent')
  return isWithin(workingDirectory, own) ? hidden : [...hidden, own]
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return !way.startsWith('..') && !isAbsolute(way)
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
    notices: [...[...found.problems, ...chosen.flatMap(({ diagnostics }) => diagnostics)].map(oneLine), ...hiddenSkills(found, chosen)],
  }
}

/** A skill of a person's own, or of the machine, in whose place an agent gets one that came with the project. */
function hiddenSkills(
  { shadowed }: Pick<FoundSkills, 'shadowed'>,
  chosen: readonly { readonly skills: readonly { readonly name: string }[] }[],
): readonly string[] {
  const isWanted = (name: string): boolean => chosen.some(({ skills }) => skills.some((skill) => skill.name === name))
  return shadowed.flatMap(({ card, by, kind }) =>
    kind === 'shadowed' && isWanted(card.name)
      ? [`${by.path}: the skill "${card.name}" is used from here, and hides the one at ${card.path}. Rename one of them if both are meant.`]
      : [],
  )
}

const oneLine = ({ place, message, remedy }: Problem): string => `${place}: ${message}${remedy === undefined ? '' : `. ${remedy}`}`

interface ConfiguredHooks {
  readonly hooks: readonly Hook[]
  /** What they are made of: agents must not change it. */
  readonly files: readonly string[]
}

async function configuredHooks(
  config: Config,
  { host, wrong, workingDirectory }: Pick<ActingWishes, 'host' | 'workingDirectory'> & { readonly wrong: Problem[] },
): Promise<ConfiguredHooks> {
  const configured = hooksOf(config)
  if (configured.length === 0) return { hooks: [], files: [] }
  const { hookFiles, hookHashes, hooksFrom } = await import('../tools/hooks/index.ts')
  const environment = plainEnvironment(host.env, workingDirectory)
  const trusted: TrustRecords = configured.every(({ isOwn }) => isOwn) ? new Map() : await readTrust(trustPlaceOf(host))
  const trustedHashes = new Map([...trusted.values()].map(({ path, sha256 }) => [path, sha256]))
  const hooks: Hook[] = []
  for (const { definition, baseDir, place, isOwn } of configured) {
    // Whose file it is decides whose word is needed; what agents could have changed since they began is looked at in any case.
    const files = isOwn ? { hashes: hookHashes([definition], baseDir), folders: [workingDirectory] } : { hashes: trustedHashes }
    try {
      hooks.push(...(await hooksFrom([definition], { baseDir, place, clock: systemClock, environment, trusted: files })))
    } catch (error) {
      if (!(error instanceof TroupeError)) throw error
      wrong.push(...(error.problems.length > 0 ? error.problems : [{ place, message: error.message }]))
    }
  }
  return { hooks, files: [...new Set(configured.flatMap(({ definition, baseDir }) => hookFiles([definition], baseDir)))] }
}

const passedOn = ['PATH', 'HOME', 'LANG', 'TMPDIR']

/** What a program of a person's own needs to be found and run, and no keys. Nothing is looked for where agents may put it. */
function plainEnvironment(env: Host['env'], workingDirectory: string): { readonly [name: string]: string } {
  const kept = Object.fromEntries(passedOn.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
  if (kept.PATH === undefined) return kept
  const folders = kept.PATH.split(delimiter).filter((folder) => isAbsolute(folder) && !isWithin(folder, workingDirectory))
  return { ...kept, PATH: folders.join(delimiter) }
}
