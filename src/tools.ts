// The exports of `troupe/tools`: built-in tools, sandbox, skills, project context and hooks for programs.
import { homedir } from 'node:os'
import { systemClock } from './runtime/index.ts'
import { type WorkspaceKit, type WorkspaceKitOptions, workspaceKit } from './tools/kit/index.ts'
import { type ProcessSandbox, type ProcessSandboxOptions, processSandbox as sandboxOf } from './tools/sandbox/index.ts'

export type { HttpAuth, HttpMethod, OpenApiDefinition, RestPagination, RestParameter, RestToolDefinition } from './contracts/index.ts'
export { checkHooks, type HookDefinition, type HookPlace, type HookPoint, hooksFrom } from './tools/hooks/index.ts'
export { type HttpToolOptions, type OpenApiOptions, openApiTools, restTool } from './tools/http/index.ts'
export type { WorkspaceKit } from './tools/kit/index.ts'
export { findProjectRoot, type ProjectContext, projectContext } from './tools/project-context/index.ts'
export type { Availability } from './tools/sandbox/index.ts'
export { type FoundSkills, findSkills, type SkillProblem, selectSkills, userSkillDirectories } from './tools/skills/index.ts'

/** Only `workspace` is required. */
export type WorkspaceOptions = Pick<WorkspaceKitOptions, 'workspace'> & Partial<WorkspaceKitOptions>

/**
 * Creates the built-in tools for one folder, and the sandbox for their commands.
 *
 * @example
 * const { tools, sandbox } = workspaceTools({ workspace: '/srv/project' })
 * const runtime = createAgentRuntime({ config: { agents: [agent], tools }, adapter: model, sandbox, approver })
 *
 * @throws TroupeError `config_invalid` if `workspace` is not the absolute path of a folder, or an option is unknown.
 */
export function workspaceTools(options: WorkspaceOptions): WorkspaceKit {
  return workspaceKit({ ...machine(), ...options })
}

/** The sandbox of `workspaceTools` alone, such as for `mcp.sandbox` of a runtime. Only `root` is required. */
export const processSandbox = (options: Pick<ProcessSandboxOptions, 'root'> & Partial<ProcessSandboxOptions>): ProcessSandbox =>
  sandboxOf({ ...machine(), ...options })

const machine = () => ({ clock: systemClock, home: homedir(), path: '/usr/local/bin:/usr/bin:/bin' })
