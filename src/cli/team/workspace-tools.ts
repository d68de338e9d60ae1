import { homedir } from 'node:os'
import { join } from 'node:path'
import {
  approvalsOf,
  type Config,
  contextOf,
  findProjectRoot,
  projectContext,
  type RegisteredAgent,
  sandboxOf,
  type TrustRecords,
} from '../../agents/index.ts'
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
import type { WorkspaceKit } from '../../tools/kit/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { flagProblems } from '../approvals/flag-rules.ts'
import type { WithoutTerminal } from '../approvals/terminal-approver.ts'
import { homeFolder } from '../host/data-folder.ts'
import type { Host } from '../host/process-host.ts'
import { agentsWithSkills, inShort } from './agents-with-skills.ts'
import { builtinTools } from './builtin-tools.ts'
import { configuredHooks } from './configured-hooks.ts'
import { unavailableTools } from './unavailable-tools.ts'

/** What agents act with, what they know of the project, and who has a say in it. */
export interface WorkspaceTools {
  /** With the names of skills that there are. */
  readonly agents: readonly AgentDefinition[]
  readonly shared: Pick<AgentLoopConfig, 'tools' | 'approvals' | 'skills' | 'context'>
  readonly sandbox: Sandbox | undefined
  readonly hooks: readonly Hook[]
  readonly whenNobodyIsThere: WithoutTerminal
  /** What approvals for the project are kept under. */
  readonly project: string
  /** What a person should know about it. */
  readonly notices: readonly string[]
}

export interface WorkspaceToolOptions {
  readonly host: Pick<Host, 'env'>
  readonly config: Config
  readonly workingDirectory: string
  /** Patterns of the command line. */
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  /** Nothing will run: tools that cannot run here are named. */
  readonly dryRun: boolean
  /** What nobody may see: journals, trust, approvals. */
  readonly hidden: readonly string[]
  /** Default: what stands in the list of trust. */
  readonly trusted?: TrustRecords
}

/** @throws TroupeError with every problem at once; nothing is started. */
export async function createWorkspaceTools(agents: readonly RegisteredAgent[], display: WorkspaceToolOptions): Promise<WorkspaceTools> {
  const { host, config, workingDirectory, allow, deny, hidden } = display
  const project = findProjectRoot(workingDirectory)
  const skilled = agentsWithSkills(agents, { config, workingDirectory })
  const hooked = await configuredHooks(config, { host, workingDirectory, trusted: display.trusted })
  const tools = agents.map(({ definition }) => `agent__${definition.toolName}`)
  const wrong = [...flagProblems({ allow, deny, tools }), ...skilled.problems, ...hooked.problems]
  if (wrong.length > 0) throw new TroupeError('config_invalid', 'Not everything that agents are to act with is there.', { problems: wrong })
  const known = { tools, sources: [] }
  const { policies, onUnavailable } = approvalsOf(config)
  const policy = sandboxOf(config)
  const builtin = await builtinFor(agents, {
    host,
    workingDirectory,
    policy,
    hidden: withOwnFolder(hidden, workingDirectory),
    guarded: hooked.files,
  })
  const missing = builtin && display.dryRun ? await unavailableTools(definitionsOf(agents), builtin) : []
  const told = contextOf(config).agentsMd ? projectContext({ workingDirectory, projectRoot: project, hidden }) : { texts: [], problems: [] }
  return {
    agents: skilled.agents,
    shared: {
      tools: builtin?.tools ?? [],
      approvals: [...flagPolicy(allow, deny), ...policies.map((each) => ({ ...each, rules: knownRules(each.rules, known) }))],
      skills: skilled.skills,
      context: told.texts.map(({ source, text }) => ({ source, text: wrapProjectText(source, text) })),
    },
    sandbox: builtin?.sandbox,
    hooks: hooked.hooks,
    whenNobodyIsThere: onUnavailable ?? 'suspend',
    project,
    notices: [...inShort(skilled.faults), ...skilled.warnings, ...told.problems, ...missing].map(oneLine),
  }
}

const definitionsOf = (agents: readonly RegisteredAgent[]) => agents.map(({ definition }) => definition)

const flagPolicy = (allow: readonly string[], deny: readonly string[]): readonly ApprovalPolicy[] =>
  allow.length + deny.length === 0
    ? []
    : [{ name: 'the command line', rules: [...allow.map((each) => ({ allow: each })), ...deny.map((each) => ({ deny: each }))] }]

/** They are loaded where somebody may use them. */
async function builtinFor(
  agents: readonly RegisteredAgent[],
  { host, workingDirectory, ...walls }: Pick<WorkspaceToolOptions, 'host' | 'workingDirectory' | 'hidden'> & Walls,
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
  return isInside(own, workingDirectory) ? hidden : [...hidden, own]
}

const oneLine = ({ place, message, remedy }: Problem): string => `${place}: ${message}${remedy === undefined ? '' : `. ${remedy}`}`
