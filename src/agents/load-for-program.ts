/*
 * 1. Files are read by what the command line reads them with; nothing else is: no configuration, no list of what is
 *    trusted, no variable.
 * 2. Whatever a file says takes effect by what is given here, or is refused.
 */
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { JsonObject, Problem, SandboxPolicy, SkillCard } from '../contracts/index.ts'
import { builtinToolNames } from '../policy/builtin-tool-names.ts'
import type { Config } from './config/config.ts'
import type { AgentDiagnostic } from './registry/agent-diagnostic.ts'
import { agentSkills } from './registry/agent-skills.ts'
import { loadRegistry } from './registry/load-registry.ts'
import type { ReadableFile } from './registry/loaded-file.ts'
import type { RegisteredAgent } from './registry/registered-agent.ts'
import type { FoundSkills } from './skills/find-skills.ts'

export interface ProgramFiles {
  readonly files: readonly string[]
  readonly workingDirectory: string
  /** Names of the tools that there are. */
  readonly tools: readonly string[]
  readonly skills: FoundSkills | undefined
  /** The walls that there are, if any. */
  readonly sandbox: SandboxPolicy | undefined
  readonly trusted: boolean
}

/** A file that an agent was read from. */
export interface AgentSource {
  /** The name of the agent. */
  readonly agent: string
  /** Absolute, links followed. */
  readonly path: string
  readonly metadata: JsonObject
}

/** An agent as the runtime takes it. */
export type DefinedAgent = RegisteredAgent['definition']

export type LoadedForProgram = Pick<Read, 'said'> &
  (({ readonly ok: true } & Omit<Read, 'said'>) | { readonly ok: false; readonly problems: readonly Problem[] })

interface Read {
  readonly agents: readonly DefinedAgent[]
  /** The names of those whose files were named. */
  readonly roots: readonly string[]
  /** Those that somebody wants. */
  readonly skills: readonly SkillCard[]
  readonly sources: readonly AgentSource[]
  readonly diagnostics: readonly AgentDiagnostic[]
  /** What the files say that could be read, for whoever compiles schemas. */
  readonly said: readonly ReadableFile[]
}

const noConfig: Config = { layers: [], files: [], ownFolders: [], pending: [], diagnostics: [] }
const noSkills: FoundSkills = { skills: [], details: new Map(), shadowed: [], disabled: [], problems: [] }

export async function loadForProgram(wishes: ProgramFiles): Promise<LoadedForProgram> {
  const { files: roots, workingDirectory, tools, skills = noSkills, sandbox, trusted } = wishes
  const registry = await loadRegistry({
    roots,
    scope: 'reachable',
    workingDirectory,
    config: noConfig,
    environment: {},
    trusted: trusted ? 'everything' : new Map(),
    tools,
    ...(sandbox && { sandbox }),
  })
  const { said } = registry
  const wanting = said.map((file) => ({ file, ...agentSkills(skillRequestOf(file), skills) }))
  const problems = [
    ...(registry.ok ? [] : registry.problems),
    ...(wishes.skills ? wanting.flatMap((each) => each.problems) : said.flatMap(missingSkills)),
    ...(sandbox || tools.length === 0 ? [] : said.flatMap(missingSandbox)),
  ].map(forProgram)
  if (!registry.ok || problems.length > 0) return { ok: false, problems, said }
  const base = dirname(resolve(workingDirectory, roots[0] ?? '.'))
  const chosen = registry.agents.map((agent) => ({ agent, ...agentSkills(agent, skills) }))
  const wanted = new Set(chosen.flatMap((each) => each.skills.map(({ name }) => name)))
  return {
    ok: true,
    agents: chosen.map(({ agent: { definition }, skills: own }) => ({
      ...definition,
      models: definition.models.map((model) => scriptIn(base, model)),
      skills: own.map(({ name }) => name),
    })),
    roots: registry.roots,
    skills: skills.skills.filter(({ name }) => wanted.has(name)),
    sources: registry.agents.map(({ definition: { name }, path, metadata }) => ({ agent: name, path, metadata })),
    diagnostics: [...registry.diagnostics, ...chosen.flatMap((each) => each.diagnostics)].map(forProgram),
    said,
  }
}

function skillRequestOf({ values, dialect, place }: ReadableFile): Parameters<typeof agentSkills>[0] {
  const list = (key: 'skills' | 'disabledSkills'): readonly string[] => (values.get(key)?.value as readonly string[] | undefined) ?? []
  return { definition: { skills: list('skills') }, disabledSkills: list('disabledSkills'), values, dialect, place }
}

function missingSkills({ values }: ReadableFile): readonly Problem[] {
  const said = values.get('skills')
  if (!said || (said.value as readonly string[]).length === 0) return []
  const { place, line } = said
  const remedy = 'Give `skills`: `findSkills` of `troupe/acting` finds them.'
  return [{ place, message: 'it wants skills, and none were given', remedy, ...(line !== undefined && { line }) }]
}

/** Walls that are not there cannot be made stricter. */
function missingSandbox({ values }: ReadableFile): readonly Problem[] {
  const said = [...values].find(([key]) => key.startsWith('sandbox.'))?.[1]
  if (!said) return []
  const { place, line } = said
  const remedy = 'Give `sandbox`, such as that of `workspaceTools` of `troupe/acting`, here and to the runtime.'
  return [{ place, message: 'it speaks of a sandbox, and none was given', remedy, ...(line !== undefined && { line }) }]
}

/** A model of `script/` is found beside the file that names it, wherever the program looks for models. */
function scriptIn(base: string, model: string): string {
  const [, file] = /^script\/(.+)$/s.exec(model) ?? []
  return file === undefined || isAbsolute(file) ? model : `script/${join(base, file)}`
}

/** Where the command line has a flag or a command, a program has an option. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/troupe trust .+$/s, 'give `trusted: true`.'],
  [/^Enable it for this run: .+$/s, 'Take `enabled: false` out of it.'],
  [/; the configuration lists no agents\.$/, '.'],
  [/^There are no tools here; leave it out\.$/, 'Give it in `tools`, or leave it out.'],
]

function forProgram<Told extends Pick<Problem, 'message' | 'remedy'>>(told: Told): Told {
  const [, tool = ''] = /^there is no tool `(.+)`$/.exec(told.message) ?? []
  if (builtinToolNames.some((name) => name === tool))
    return { ...told, remedy: 'Give it in `tools`: `workspaceTools` of `troupe/acting` has it.' }
  const remedy = remedies.reduce((words, [flag, option]) => words.replace(flag, option), told.remedy ?? '')
  return remedy === '' ? told : { ...told, remedy }
}
