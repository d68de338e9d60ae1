import type { Problem, Sandbox, SandboxPolicy, Tool, ToolFailure } from '../../contracts/index.ts'
import { systemClock } from '../../runtime/index.ts'
import { confinementFor } from '../../steps/index.ts'
import type { WorkspaceKit } from '../../tools/kit/index.ts'
import { matchesGlob, parseGlob } from '../../util/glob.ts'
import type { RegisteredAgent } from '../registry/registered-agent.ts'
import { homeFolder } from '../setup/data-folder.ts'
import type { ProjectPlace } from '../setup/project-place.ts'

interface KitOptions {
  readonly workspace: string
  readonly policy: SandboxPolicy
  /** Paths that agents cannot access: journals, trust, approvals. */
  readonly hidden: readonly string[]
  /** Files of hooks: changing them always needs an approval. */
  readonly guarded: readonly string[]
}

const defaultPath = '/usr/local/bin:/usr/bin:/bin'

/** The built-in tools and their sandbox, for the workspace or a folder in it. */
export type KitAt = (folder: string) => WorkspaceKit

/** Loaded on demand. */
export async function openWorkspaceKits({ env }: Pick<ProjectPlace, 'env'>, options: Omit<KitOptions, 'workspace'>): Promise<KitAt> {
  const { workspaceKit } = await import('../../tools/kit/index.ts')
  return (workspace) => workspaceKit({ ...options, workspace, clock: systemClock, home: homeFolder(env), path: env.PATH ?? defaultPath })
}

export const openWorkspaceKit = async (place: Pick<ProjectPlace, 'env'>, { workspace, ...options }: KitOptions): Promise<WorkspaceKit> =>
  (await openWorkspaceKits(place, options))(workspace)

type Agent = Pick<RegisteredAgent['definition'], 'tools' | 'sandbox'>

/** Tools of agents that cannot run here: each once, with the reason and a remedy. */
export async function unavailableTools(agents: readonly Agent[], { tools, sandbox }: Kit): Promise<readonly Problem[]> {
  const named = tools.flatMap((tool) => agents.filter((agent) => hasTool(agent, tool.name)).map((agent) => ({ tool, agent })))
  const found = new Map<string, Problem>()
  for (const { tool, agent } of named) {
    const failure = found.has(tool.name) ? undefined : await tool.unavailable?.(confinementFor(agent, sandbox.confinement))
    if (failure) found.set(tool.name, problemOf(tool.name, failure))
  }
  return [...found.values()]
}

interface Kit {
  readonly tools: readonly Tool[]
  readonly sandbox: Sandbox
}

const hasTool = ({ tools }: Agent, name: string): boolean => tools.some((pattern) => matchesGlob(parseGlob(pattern), name))

const problemOf = (tool: string, { message, remedy }: ToolFailure): Problem => ({
  place: tool,
  message: `the tool does not work here: ${message.replace(/\.$/, '')}`,
  ...(remedy !== undefined && { remedy }),
})
