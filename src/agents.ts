// Agents from files, for programs that embed the runtime.
import { resolve } from 'node:path'
import type { Problem, Sandbox, SessionToolSource, SkillCard, Tool } from './contracts/index.ts'
import { type AgentDiagnostic, type AgentSource, loadForProgram, type ProgramFiles } from './project/index.ts'
import { type AgentLoopConfig, checkTools, systemClock } from './runtime/index.ts'
import { contractProblems } from './tools/index.ts'
import type { FoundSkills } from './tools/skills/index.ts'
import { isRecord } from './util/is-record.ts'
import { aBoolean, aString, checkField, checkOnlyFields, type FieldType, optional, problemsError } from './util/option-problems.ts'

export type { AgentDiagnostic, AgentSource } from './project/index.ts'

export interface AgentFilesOptions {
  /** The tools that files may name; they become the tools of the configuration, with those of modules. Default: none. */
  readonly tools?: readonly (Tool | SessionToolSource)[]
  /** MCP servers that files may name; they become those of the configuration. Files can have servers of their own. Default: none. */
  readonly mcpServers?: AgentLoopConfig['mcpServers']
  /** The result of `findSkills` of `troupe/tools`. Needed for files with skills. */
  readonly skills?: FoundSkills
  /** The sandbox of the runtime. Needed for files with sandbox settings. */
  readonly sandbox?: Sandbox
  /** The base of relative paths. Default: the working directory of the process. */
  readonly workingDirectory?: string
  /**
   * Whether you trust the files and everything that they refer to. Default false: schemas, scripts and agents must be in the
   * project of the agent that names them, agents of other programs only get tools that read, and modules with tools are not imported.
   */
  readonly trusted?: boolean
}

export interface AgentsFromFiles {
  /** For `createAgentRuntime`: agents, tools and skills; for a single file also the selected agent. You can extend it. */
  readonly config: AgentLoopConfig & { readonly skills?: readonly SkillCard[] }
  /** Settings of the files without effect, or with less effect than written. */
  readonly diagnostics: readonly AgentDiagnostic[]
  /** Each agent with the file that it was read from. */
  readonly sources: readonly AgentSource[]
}

/**
 * Reads agent files and the agents that they call, as `troupe run` does. It reads no project configuration, no trust records and
 * no environment variables.
 *
 * @example
 * const { config } = await agentsFromFiles('trip.ai', { tools: [timetable] })
 * const runtime = createAgentRuntime({ config, adapter: model })
 *
 * @throws TroupeError `agent_file_invalid` with all problems of all files; `config_invalid` for invalid options.
 */
export async function agentsFromFiles(files: string | readonly string[], options: AgentFilesOptions = {}): Promise<AgentsFromFiles> {
  checkOptions(files, options)
  const { tools = [], mcpServers = {}, skills, sandbox, workingDirectory = '.', trusted = false } = options
  let moduleTools: readonly Tool[] = []
  const read = await loadForProgram({
    files: [files].flat(),
    workingDirectory: resolve(workingDirectory),
    tools: tools.flatMap((each) => ('open' in each ? [] : [each.name])),
    sources: [...tools.flatMap((each) => ('open' in each ? [each.name] : [])), ...Object.keys(mcpServers)],
    skills,
    sandbox: sandbox && policyOf(sandbox),
    trusted,
    async importModules(modules) {
      const { loadToolModules } = await import('./tools/modules/index.ts')
      const loaded = await loadToolModules(modules, { clock: systemClock, taken: tools.map(({ name }) => name), checkTools })
      moduleTools = loaded.tools
      return { tools: loaded.names, problems: loaded.problems }
    },
  })
  const problems = [...(read.ok ? [] : read.problems), ...(await contractProblems(read.readable))]
  if (!read.ok || problems.length > 0) throw problemsError('agent_file_invalid', 'agent files', problems)
  const [speaker, ...others] = read.roots
  return {
    config: {
      agents: read.agents,
      ...(speaker !== undefined && others.length === 0 && { agentSelection: { agent: speaker } }),
      tools: [...tools, ...moduleTools],
      ...(Object.keys(mcpServers).length > 0 && { mcpServers }),
      skills: read.skills,
    },
    diagnostics: read.diagnostics,
    sources: read.sources,
  }
}

const policyOf = ({ confinement }: Sandbox): ProgramFiles['sandbox'] => (confinement.kind === 'sandbox' ? confinement.policy : undefined)

const fields: { readonly [Key in keyof Required<AgentFilesOptions>]: FieldType } = {
  tools: optional({
    expected: 'a list of tools and of sources for sessions; of another source, the tools that it lists',
    accepts: (value) => Array.isArray(value) && value.every((tool: unknown) => isRecord(tool) && typeof tool.name === 'string'),
  }),
  mcpServers: optional({ expected: 'an object with MCP servers', accepts: isRecord }),
  skills: optional({
    expected: 'the result of findSkills of troupe/tools',
    accepts: (value) => isRecord(value) && Array.isArray(value.skills) && Array.isArray(value.problems),
  }),
  sandbox: optional({ expected: 'a sandbox', accepts: (value) => isRecord(value) && isRecord(value.confinement) }),
  workingDirectory: optional({ ...aString, expected: 'a folder' }),
  trusted: optional(aBoolean),
}
const paths: FieldType = {
  expected: 'the path of an agent file, or a list of them',
  accepts: (value) => [value].flat().length > 0 && [value].flat().every((path) => typeof path === 'string' && path !== ''),
}

function checkOptions(files: unknown, options: AgentFilesOptions): void {
  const problems: Problem[] = []
  checkField(problems, files, { type: paths, place: 'files' })
  checkOnlyFields(problems, options, { fields, place: 'options' })
  if (problems.length > 0) throw problemsError('config_invalid', 'options of agentsFromFiles', problems)
}
