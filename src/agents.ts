// Agents out of files, for those who embed the runtime.
import { resolve } from 'node:path'
import { type AgentDiagnostic, type AgentSource, type FoundSkills, loadForProgram, type ProgramFiles } from './agents/index.ts'
import { type Problem, type Sandbox, type Tool, TroupeError } from './contracts/index.ts'
import type { AgentLoopConfig } from './runtime/index.ts'
import { contractProblems } from './tools/index.ts'
import { suggestion } from './util/nearest-names.ts'
import { showValue } from './util/show-value.ts'

export type { AgentDiagnostic, AgentSource } from './agents/index.ts'

export interface AgentFilesOptions {
  /** The tools that files may name; they become those of the configuration. Default: none. */
  readonly tools?: readonly Tool[]
  /** What `findSkills` of `troupe/acting` has found. Files that want skills need it. */
  readonly skills?: FoundSkills
  /** The walls that the runtime is given, too. Files that speak of a sandbox need them. */
  readonly sandbox?: Sandbox
  /** What the paths of the files are relative to. Default: the folder of the process. */
  readonly workingDirectory?: string
  /**
   * Whether you know the files and all that they lead to. Default false: schemas, scripts and agents lie in the project of
   * the agent that names them, and agents of other programs have tools that only read.
   */
  readonly trusted?: boolean
}

export interface AgentsFromFiles {
  /** For `createAgentRuntime`: agents, tools and skills, and of a single file that its agent speaks. More can be added to it. */
  readonly config: AgentLoopConfig
  /** What the files say and what has no effect, or less than they say. It stops nothing. */
  readonly diagnostics: readonly AgentDiagnostic[]
  /** Every agent with the file that it was read from. */
  readonly sources: readonly AgentSource[]
}

/**
 * Reads agent files with everybody whom they call, as `troupe run` does. No configuration of a project, no trust and no
 * environment is looked at.
 *
 * @example
 * const { config } = await agentsFromFiles('trip.ai', { tools: [timetable] })
 * const runtime = createAgentRuntime({ config, adapter: model })
 *
 * @throws TroupeError `agent_file_invalid` with every problem of every file at once; `config_invalid` for wrong options.
 */
export async function agentsFromFiles(files: string | readonly string[], options: AgentFilesOptions = {}): Promise<AgentsFromFiles> {
  const { tools = [], skills, sandbox, workingDirectory = '.', trusted = false } = checked(files, options)
  const read = await loadForProgram({
    files: [files].flat(),
    workingDirectory: resolve(workingDirectory),
    tools: tools.map(({ name }) => name),
    skills,
    sandbox: sandbox && wallsOf(sandbox),
    trusted,
  })
  const problems = [...(read.ok ? [] : read.problems), ...(await contractProblems(read.readable))]
  if (!read.ok || problems.length > 0) throw wrong('agent_file_invalid', 'The agent files are', problems)
  const [speaker, ...others] = read.roots
  return {
    config: {
      agents: read.agents,
      ...(speaker !== undefined && others.length === 0 && { agentSelection: { agent: speaker } }),
      tools,
      skills: read.skills,
    },
    diagnostics: read.diagnostics,
    sources: read.sources,
  }
}

const wallsOf = ({ confinement }: Sandbox): ProgramFiles['sandbox'] => (confinement.kind === 'sandbox' ? confinement.policy : undefined)

const known: { readonly [Key in keyof Required<AgentFilesOptions>]: true } = {
  tools: true,
  skills: true,
  sandbox: true,
  workingDirectory: true,
  trusted: true,
}

function checked(files: unknown, options: AgentFilesOptions): AgentFilesOptions {
  const problems: Problem[] = []
  const expect = (isRight: boolean, place: string, [what, found]: readonly [string, unknown]): void => {
    if (!isRight) problems.push({ place, message: `expected ${what}, found ${showValue(found)}`, remedy: `Give ${what}.` })
  }
  const paths: readonly unknown[] = [files].flat()
  const arePaths = paths.length > 0 && paths.every((path) => typeof path === 'string' && path !== '')
  expect(arePaths, 'files', ['the path of an agent file, or a list of them', files])
  for (const key of Object.keys(options)) {
    if (!Object.hasOwn(known, key))
      problems.push({ place: key, message: 'unknown option', remedy: suggestion(key, Object.keys(known)) ?? 'Leave it out.' })
  }
  const { tools = [], skills, sandbox, workingDirectory = '.', trusted = false } = options
  const areTools = Array.isArray(tools) && tools.every((tool: unknown) => isObject(tool) && typeof tool.name === 'string')
  expect(areTools, 'tools', ['a list of tools; of a source, what it lists', tools])
  const areSkills = skills === undefined || (isObject(skills) && Array.isArray(skills.skills) && Array.isArray(skills.problems))
  expect(areSkills, 'skills', ['what findSkills of troupe/acting gives', skills])
  expect(sandbox === undefined || (isObject(sandbox) && isObject(sandbox.confinement)), 'sandbox', ['a sandbox', sandbox])
  expect(typeof workingDirectory === 'string', 'workingDirectory', ['a folder', workingDirectory])
  expect(typeof trusted === 'boolean', 'trusted', ['true or false', trusted])
  if (problems.length > 0) throw wrong('config_invalid', 'What agents are to be read by is', problems)
  return options
}

const isObject = (value: unknown): value is { readonly [key: string]: unknown } => typeof value === 'object' && value !== null

function wrong(code: 'agent_file_invalid' | 'config_invalid', what: string, problems: readonly Problem[]): TroupeError {
  const lines = problems.map(({ place, message, remedy }) => `${place}: ${message}${remedy === undefined ? '' : `. ${remedy}`}`)
  const places = problems.length === 1 ? 'one place' : `${problems.length} places`
  return new TroupeError(code, `${what} wrong in ${places}:\n  ${lines.join('\n  ')}`, { problems })
}
