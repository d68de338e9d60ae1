import { join } from 'node:path'
import {
  type ApprovalPolicy,
  type Hook,
  type Problem,
  type Sandbox,
  type SandboxPolicy,
  TroupeError,
  wrapProjectText,
} from '../../contracts/index.ts'
import { knownRules } from '../../policy/tool-name-problems.ts'
import type { AgentDefinition, AgentLoopConfig } from '../../runtime/index.ts'
import { findProjectRoot, projectContext } from '../../tools/project-context/index.ts'
import { isInside } from '../../util/is-inside.ts'
import type { Config } from '../config/config.ts'
import { serversOf } from '../config/configured-servers.ts'
import { approvalsOf, contextOf, type OnUnavailable, sandboxOf } from '../config/section-values.ts'
import type { TrustRecords } from '../config/trust/trust-records.ts'
import { openApiNames, restToolNames } from '../config/unknown-names.ts'
import type { RegisteredAgent } from '../registry/registered-agent.ts'
import { homeFolder } from '../setup/data-folder.ts'
import { extensionIds } from '../setup/extension-folders.ts'
import type { ProjectPlace } from '../setup/project-place.ts'
import { trustPlaceOf } from '../setup/read-setup.ts'
import { flagProblems } from './allow-and-deny.ts'
import { configuredHooks } from './configured-hooks.ts'
import { configuredHttpTools } from './http-tools.ts'
import { type KitAt, openWorkspaceKits, unavailableTools } from './open-workspace-kit.ts'
import { agentsWithSkills, summarizeProblems } from './project-skills.ts'
import { type ModuleTools, noModuleTools } from './tool-modules.ts'

/** The tools, rules, skills, hooks and project texts of a team. */
interface WorkspaceTools {
  /** With the names of the skills that were found. */
  readonly agents: readonly AgentDefinition[]
  readonly shared: Pick<AgentLoopConfig, 'tools' | 'approvals' | 'extensions' | 'skills' | 'context'>
  readonly sandbox: Sandbox | undefined
  readonly hooks: readonly Hook[]
  readonly withoutTerminal: OnUnavailable
  /** The project root: grants for the project are stored under it. */
  readonly project: string
  /** What does not work, although the agents start. */
  readonly warnings: readonly Problem[]
  /** The same built-in tools for other folders. Absent if no agent has tools. */
  readonly kitAt?: KitAt
}

interface WorkspaceToolOptions {
  readonly place: Pick<ProjectPlace, 'env'>
  readonly config: Config
  readonly workingDirectory: string
  /** Patterns of the command line. */
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  /** Whether to report tools that cannot run here. */
  readonly dryRun: boolean
  /** Whether extensions may use built-in tools, whatever the agents have. */
  readonly hasExtensions?: boolean | undefined
  /** Paths that agents cannot access: journals, trust, approvals. */
  readonly hidden: readonly string[]
  readonly moduleTools?: ModuleTools
  /** Default: the stored list of trusted files. */
  readonly trusted?: TrustRecords
}

/** @throws TroupeError with all problems; nothing is started. */
export async function createWorkspaceTools(agents: readonly RegisteredAgent[], options: WorkspaceToolOptions): Promise<WorkspaceTools> {
  const { place, config, workingDirectory, allow, deny, hidden, moduleTools = noModuleTools } = options
  const project = findProjectRoot(workingDirectory)
  const skilled = agentsWithSkills(agents, { config, workingDirectory, environment: place.env })
  const hooked = await configuredHooks(config, { place, workingDirectory, trusted: options.trusted })
  const extensions = extensionIds({ cwd: workingDirectory, env: place.env })
  const tools = [
    ...agents.map(({ definition }) => `agent__${definition.toolName}`),
    ...moduleTools.tools.map(({ name }) => name),
    ...restToolNames(config),
  ]
  const servers = [...serversOf(config), ...agents.flatMap((agent) => agent.servers)].map(({ name }) => name)
  const sources = [...servers, ...openApiNames(config)]
  const rules = flagProblems({ allow, deny, tools, sources, extensions })
  const problems = [...rules, ...skilled.problems, ...hooked.problems]
  if (problems.length > 0) throw new TroupeError('config_invalid', problemText(rules.length === problems.length), { problems })
  const known = { tools, sources, extensions }
  const { policies, onUnavailable } = approvalsOf(config)
  const policy = sandboxOf(config)
  const kitAt = await openWorkspaceKitsFor(agents, {
    place,
    hasExtensions: options.hasExtensions,
    policy,
    hidden: withOwnFolder(hidden, { cwd: workingDirectory, env: place.env }),
    guarded: [...hooked.files, ...moduleTools.files],
  })
  const builtin = kitAt?.(workingDirectory)
  const patterns = agents.flatMap(({ definition }) => definition.tools)
  const http = await configuredHttpTools(
    { config, environment: place.env, patterns },
    async () => options.trusted ?? trustPlaceOf(place).store.list(),
  )
  const missing = builtin && options.dryRun ? await unavailableTools(definitionsOf(agents), builtin) : []
  const context = contextOf(config).agentsMd
    ? projectContext({ workingDirectory, projectRoot: project, hidden })
    : { texts: [], problems: [] }
  return {
    agents: skilled.agents,
    shared: {
      tools: [...(builtin?.tools ?? []), ...moduleTools.tools, ...http.tools],
      approvals: [...flagPolicy(allow, deny), ...policies.map((each) => ({ ...each, rules: knownRules(each.rules, known) }))],
      extensions,
      skills: skilled.skills,
      context: context.texts.map(({ source, text }) => ({ source, text: wrapProjectText(source, text) })),
    },
    sandbox: builtin?.sandbox,
    hooks: hooked.hooks,
    withoutTerminal: onUnavailable ?? 'suspend',
    project,
    ...(kitAt && { kitAt }),
    warnings: [...summarizeProblems(skilled.fileProblems), ...skilled.warnings, ...context.problems, ...http.problems, ...missing],
  }
}

const problemText = (isAboutFlags: boolean): string =>
  isAboutFlags ? 'The patterns of --allow or --deny are invalid.' : 'Some skills or hooks of the agents cannot be used.'

const definitionsOf = (agents: readonly RegisteredAgent[]) => agents.map(({ definition }) => definition)

const flagPolicy = (allow: readonly string[], deny: readonly string[]): readonly ApprovalPolicy[] =>
  allow.length + deny.length === 0
    ? []
    : [{ name: 'the command line', rules: [...allow.map((each) => ({ allow: each })), ...deny.map((each) => ({ deny: each }))] }]

/** Loaded only if somebody may use them. */
async function openWorkspaceKitsFor(
  agents: readonly RegisteredAgent[],
  { place, hasExtensions, ...confinement }: Pick<WorkspaceToolOptions, 'place' | 'hidden' | 'hasExtensions'> & Confinement,
): Promise<KitAt | undefined> {
  const isUsed = hasExtensions || agents.some(({ definition }) => definition.tools.length > 0)
  return isUsed ? openWorkspaceKits(place, confinement) : undefined
}

interface Confinement {
  readonly policy: SandboxPolicy
  readonly guarded: readonly string[]
}

/** The user's own configuration needs no trust, so agents cannot access it, unless it is the workspace. */
function withOwnFolder(hidden: readonly string[], { cwd, env }: ProjectPlace): readonly string[] {
  const own = join(homeFolder(env), '.ai-agent')
  return isInside(own, cwd) ? hidden : [...hidden, own]
}
