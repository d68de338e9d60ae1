// 1. Reads only the given files: no configuration, no list of trusted files, no variables.
// 2. A setting of a file either takes effect or is a problem.
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { JsonObject, Problem, SandboxPolicy, SkillCard } from '../contracts/index.ts'
import { builtinToolNames } from '../policy/builtin-tool-names.ts'
import { matchesSource } from '../policy/tool-name-patterns.ts'
import type { FoundSkills } from '../tools/skills/index.ts'
import { agentTemplate } from './agent-file/agent-template.ts'
import type { Config } from './config/config.ts'
import { locationOf } from './options/option-values.ts'
import type { AgentDiagnostic } from './registry/agent-diagnostic.ts'
import { agentSkills } from './registry/agent-skills.ts'
import { loadRegistry } from './registry/load-registry.ts'
import type { ReadableFile } from './registry/loaded-file.ts'
import { type RegisteredAgent, registeredTemplate } from './registry/registered-agent.ts'
import type { ImportModules } from './registry/tool-modules.ts'

export interface ProgramFiles {
  readonly files: readonly string[]
  readonly workingDirectory: string
  /** The names of all tools. */
  readonly tools: readonly string[]
  /** The names of sources that are opened for each session. */
  readonly sources: readonly string[]
  readonly skills: FoundSkills | undefined
  readonly sandbox: SandboxPolicy | undefined
  readonly trusted: boolean
  readonly importModules: ImportModules
}

export interface AgentSource {
  readonly agent: string
  /** Absolute, with links resolved. */
  readonly path: string
  readonly metadata: JsonObject
}

type DefinedAgent = RegisteredAgent['definition'] & {
  /** Frontmatter for a new file with the same settings. */
  readonly template: string
}

type LoadedForProgram = Pick<Read, 'readable'> &
  (({ readonly ok: true } & Omit<Read, 'readable'>) | { readonly ok: false; readonly problems: readonly Problem[] })

interface Read {
  readonly agents: readonly DefinedAgent[]
  /** The names of the agents of the given files. */
  readonly roots: readonly string[]
  /** The skills that agents use. */
  readonly skills: readonly SkillCard[]
  readonly sources: readonly AgentSource[]
  readonly diagnostics: readonly AgentDiagnostic[]
  /** All readable files, for checks of schemas. */
  readonly readable: readonly ReadableFile[]
}

const noConfig: Config = { layers: [], files: [], ownFolders: [], pending: [], diagnostics: [] }
const noSkills: FoundSkills = { skills: [], details: new Map(), shadowed: [], disabled: [], problems: [] }

export async function loadForProgram(options: ProgramFiles): Promise<LoadedForProgram> {
  const { files: roots, workingDirectory, tools, sources, skills = noSkills, sandbox, trusted, importModules } = options
  const registry = await loadRegistry({
    roots,
    scope: 'reachable',
    workingDirectory,
    config: noConfig,
    environment: {},
    trusted: trusted ? 'everything' : new Map(),
    tools,
    sources,
    importModules,
    ...(sandbox && { sandbox }),
  })
  const { readable } = registry
  const selected = readable.map((file) => ({ file, ...agentSkills(skillRequestOf(file), skills) }))
  const problems = [
    ...(registry.ok ? [] : registry.problems),
    ...(options.skills ? selected.flatMap((each) => each.problems) : readable.flatMap(missingSkills)),
    ...(sandbox || tools.length === 0 ? [] : readable.flatMap(missingSandbox)),
  ].map(forProgram)
  if (!registry.ok || problems.length > 0) return { ok: false, problems, readable }
  const base = dirname(resolve(workingDirectory, roots[0] ?? '.'))
  const chosen = registry.agents.map((agent) => ({ agent, ...agentSkills(agent, skills) }))
  const wanted = new Set(chosen.flatMap((each) => each.skills.map(({ name }) => name)))
  return {
    ok: true,
    agents: chosen.map(({ agent, skills: own }) => ({
      ...agent.definition,
      ...withServers(agent.servers, agent.definition.tools),
      models: agent.definition.models.map((model) => scriptIn(base, model)),
      skills: own.map(({ name }) => name),
      template: agentTemplate(registeredTemplate(agent)),
    })),
    roots: registry.roots,
    skills: skills.skills.filter(({ name }) => wanted.has(name)),
    sources: registry.agents.map(({ definition: { name }, path, metadata }) => ({ agent: name, path, metadata })),
    diagnostics: [...registry.diagnostics, ...chosen.flatMap((each) => each.diagnostics)].map(forProgram),
    readable,
  }
}

/** Without servers that nobody has trusted, and without their tools. */
function withServers(servers: RegisteredAgent['servers'], tools: readonly string[]): Pick<DefinedAgent, 'tools' | 'mcpServers'> {
  const [trusted, waiting] = [servers.filter(({ isTrusted }) => isTrusted), servers.filter(({ isTrusted }) => !isTrusted)]
  const absent = waiting.map(({ name }) => name)
  return {
    tools: tools.filter((pattern) => !absent.some((name) => matchesSource(pattern, name, 'only'))),
    ...(trusted.length > 0 && { mcpServers: Object.fromEntries(trusted.map(({ name, definition }) => [name, definition])) }),
  }
}

function skillRequestOf({ values, dialect, place }: ReadableFile): Parameters<typeof agentSkills>[0] {
  const list = (key: 'skills' | 'disabledSkills'): readonly string[] => (values.get(key)?.value as readonly string[] | undefined) ?? []
  return { definition: { skills: list('skills') }, disabledSkills: list('disabledSkills'), values, dialect, place }
}

function missingSkills({ values }: ReadableFile): readonly Problem[] {
  const option = values.get('skills')
  if (!option || (option.value as readonly string[]).length === 0) return []
  const remedy = 'Give `skills`: `findSkills` of `troupe/tools` finds them.'
  return [{ ...locationOf(option), message: 'it lists skills, but no skills were given', remedy }]
}

function missingSandbox({ values }: ReadableFile): readonly Problem[] {
  const [, option] = [...values].find(([key]) => key.startsWith('sandbox.')) ?? []
  const remedy = 'Give `sandbox`, such as that of `workspaceTools` of `troupe/tools`, here and to the runtime.'
  return option ? [{ ...locationOf(option), message: 'it has sandbox settings, but no sandbox was given', remedy }] : []
}

/** A `script/` model is relative to the file that names it. */
function scriptIn(base: string, model: string): string {
  const [, file] = /^script\/(.+)$/s.exec(model) ?? []
  return file === undefined || isAbsolute(file) ? model : `script/${join(base, file)}`
}

/** Replaces flags and commands by options of programs. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/troupe trust .+$/s, 'give `trusted: true`.'],
  [/^Enable it for this run: .+$/s, 'Remove `enabled: false` from it.'],
  [/; the configuration lists no agents\.$/, '.'],
  [/^There are no tools; remove it\.$/, 'Give it in `tools`, or remove it.'],
]

function forProgram<Finding extends Pick<Problem, 'message' | 'remedy'>>(finding: Finding): Finding {
  const [, tool = ''] = /^there is no tool `(.+)`$/.exec(finding.message) ?? []
  if (builtinToolNames.some((name) => name === tool))
    return { ...finding, remedy: 'Give it in `tools`: `workspaceTools` of `troupe/tools` has it.' }
  const remedy = remedies.reduce((text, [flag, option]) => text.replace(flag, option), finding.remedy ?? '')
  return remedy === '' ? finding : { ...finding, remedy }
}
