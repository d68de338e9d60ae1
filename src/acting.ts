// What agents act with, for those who embed the runtime: tools of a folder, skills, context, hooks.
import { homedir } from 'node:os'
import { systemClock } from './runtime/index.ts'
import { type WorkspaceKit, type WorkspaceKitOptions, workspaceKit } from './tools/kit/index.ts'

export {
  type FoundSkills,
  findProjectRoot,
  findSkills,
  type ProjectContext,
  projectContext,
  type SkillProblem,
  selectSkills,
  userSkillDirectories,
} from './agents/index.ts'
export { checkHooks, type HookDefinition, type HookPlace, type HookPoint, hooksFrom } from './tools/hooks/index.ts'
export type { WorkspaceKit } from './tools/kit/index.ts'
export { type Availability, processSandbox } from './tools/sandbox/index.ts'

/** All but the folder have a default: the clock and the home folder of the system, and where programs usually are. */
export type WorkspaceOptions = Pick<WorkspaceKitOptions, 'workspace'> & Partial<WorkspaceKitOptions>

/**
 * Every built-in tool for one folder, and the walls around its commands.
 *
 * @example
 * const { tools, sandbox } = workspaceTools({ workspace: '/srv/project' })
 * const runtime = createAgentRuntime({ config: { agents: [agent], tools }, adapter: model, sandbox, approver })
 *
 * @throws TroupeError `config_invalid` where the workspace is no folder by its absolute path, or an option is unknown.
 */
export function workspaceTools(options: WorkspaceOptions): WorkspaceKit {
  return workspaceKit({ clock: systemClock, home: homedir(), path: '/usr/local/bin:/usr/bin:/bin', ...options })
}
