// 1. Each file is read once.
// 2. All problems of all files are reported together; with problems there are no agents.
// 3. Loading starts nothing but trusted modules with tools, calls no model and compiles no schema.
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { agentPrefix } from '../../policy/foreign-tools.ts'
import { orchestratorName } from '../../policy/orchestrator-name.ts'
import { knownRules } from '../../policy/tool-name-problems.ts'
import { plural } from '../../util/plural.ts'
import type { FileState } from '../config/trust/trust-records.ts'
import type { AgentDiagnostic } from './agent-diagnostic.ts'
import { teamServers, type UntrustedServers } from './agent-servers.ts'
import { assignNames } from './assign-names.ts'
import { FileLoader } from './file-loader.ts'
import { fillPrompts } from './fill-prompts.ts'
import type { ChildReference, LoadedFile, ReadableFile } from './loaded-file.ts'
import { type LeftOutAgent, type MissingTool, missingToolDiagnostic, problemOfTool } from './missing-tools.ts'
import type { FoundAgent, RegisteredAgent } from './registered-agent.ts'
import { type RegistryOptions, sourceNames, toolNames } from './registry-options.ts'
import { childProblems, cycleProblems, type Edge, ruleProblems, unknownTools } from './team-checks.ts'
import { type TeamModules, teamModules, type UntrustedModule } from './tool-modules.ts'

interface FoundFiles {
  readonly files: readonly string[]
  /** All readable agents, usable or not. */
  readonly found: readonly FoundAgent[]
  /** All readable files, for checks of models and schemas. */
  readonly readable: readonly ReadableFile[]
  readonly diagnostics: readonly AgentDiagnostic[]
  /** Untrusted foreign files, which have fewer permissions. */
  readonly untrusted: readonly FileState[]
  readonly untrustedModules: readonly UntrustedModule[]
  readonly untrustedServers: readonly UntrustedServers[]
  readonly leftOut: readonly LeftOutAgent[]
  readonly moduleTools: Pick<TeamModules, 'names' | 'areIncomplete'>
}
export type Registry = FoundFiles &
  (
    | {
        readonly ok: true
        readonly agents: readonly RegisteredAgent[]
        /** The names of the requested agents. */
        readonly roots: readonly string[]
      }
    | { readonly ok: false; readonly problems: readonly Problem[] }
  )

/** Loads and checks agents and their children. */
export async function loadRegistry(options: RegistryOptions): Promise<Registry> {
  const loader = new FileLoader(options)
  const roots = options.roots.flatMap((written) => loader.root(written) ?? [])
  const configured = options.scope === 'everything' ? loader.configured() : []
  const team = teamOf(loader, [...roots, ...configured, ...loader.faulty])
  const { files, edgesFrom } = team
  // Files with problems are checked only for prompts and children.
  const isRight = (file: LoadedFile): boolean => !loader.faulty.has(file)
  const usable = files.filter(isRight)
  const named = assignNames(usable, edgesFrom)
  const modules = await teamModules(files, options)
  const { onFile } = options
  const filled = await fillPrompts(files, { toolsOf: modules.toolsOf, ...(onFile && { onFile }) })
  const tools = [...toolNames(options), ...modules.names]
  const sources = sourceNames(options)
  const servers = await teamServers(files, options)
  const { onMissingTools = 'refuse', extensions = [] } = options
  const ruled = {
    tools: [...tools, ...files.map(({ agent }) => `${agentPrefix}${agent.toolName}`)],
    sources,
    extensions,
  }
  const unknown = new Map(usable.map((file) => [file, unknownTools(file, { tools, sources }, modules.areIncomplete)]))
  const missing = [...[...unknown.values()].flat(), ...modules.missing, ...servers.missing]
  const needed = missing.filter(({ isOptional }) => !isOptional)
  const problems = [
    ...loader.problems,
    ...(options.scope === 'reachable' ? roots.filter(isRight).flatMap(disabledProblem) : []),
    ...(onMissingTools === 'refuse' ? needed.map(problemOfTool) : []),
    ...files.flatMap((file) => ruleProblems(file, ruled, modules.areIncomplete)),
    ...firstEdges(team).flatMap((edge) => (isRight(edge.to) && !edge.reference.isOptional ? childProblems(edge) : [])),
    ...cycleProblems(files, edgesFrom),
    ...named.problems,
    ...filled.problems,
  ]
  const nameOf = (file: LoadedFile): string => named.names.get(file) ?? file.agent.name
  const incomplete = onMissingTools === 'leave out' ? files.filter((file) => needed.some(isOf(file))) : []
  const isLeftOut = (file: LoadedFile): boolean => incomplete.includes(file) && !isKept(nameOf(file))
  const children = new Set(files.flatMap((file) => edgesFrom(file).map(({ to }) => to)))
  const looked: FoundFiles = {
    files: loader.places,
    found: team.all.filter(isRight).map(foundAgent),
    readable: loader.readable,
    untrusted: loader.untrusted,
    untrustedModules: modules.untrusted,
    untrustedServers: servers.untrusted,
    leftOut: incomplete.map((file) => leftOutAgent(nameOf(file), needed.filter(isOf(file)))),
    moduleTools: { names: modules.names, areIncomplete: modules.areIncomplete },
    diagnostics: [
      ...loader.diagnostics,
      ...team.diagnostics,
      ...servers.diagnostics,
      ...missing.filter(({ isOptional }) => isOptional || onMissingTools === 'report').map(missingToolDiagnostic),
      ...files.flatMap((file) => [...file.diagnostics, ...(children.has(file) || !isRight(file) ? [] : usageMissing(file))]),
    ],
  }
  if (problems.length > 0) return { ok: false, problems, ...looked }
  const callers = new Map(firstEdges(team).map(({ from, to }) => [to, from]))
  const started = usable.filter((file) => !isLeftOut(file))
  const agents = started.map((file): RegisteredAgent => {
    const { agent, path, place, dialect, disabledSkills, metadata, values } = file
    const prompt = filled.prompts.get(file) ?? agent.prompt
    const known = { ...ruled, sources: [...sources, ...servers.of(file).map((each) => each.name)], clientTools: agent.clientTools }
    return {
      definition: {
        ...agent,
        name: nameOf(file),
        prompt,
        tools: withoutUnknown(modules.toolsOf(file), unknown.get(file)),
        models: modelsOf(file, callers),
        agents: [...new Set(edgesFrom(file).flatMap(({ to }) => (isLeftOut(to) ? [] : [nameOf(to)])))],
        ...(agent.approvals && { approvals: knownRules(agent.approvals, known) }),
      },
      path,
      place,
      dialect,
      isChild: children.has(file),
      disabledSkills,
      metadata,
      values,
      servers: servers.of(file),
      references: file.children.map(({ written }) => written),
    }
  })
  return { ok: true, agents, roots: roots.filter((file) => file.enabled && !isLeftOut(file)).map(nameOf), ...looked }
}

/** The default one, which would replace it, may be less strict. */
const isKept = (name: string): boolean => name === orchestratorName

const leftOutAgent = (name: string, missing: readonly MissingTool[]): LeftOutAgent => ({
  name,
  starts: isKept(name),
  problems: missing.map(problemOfTool),
})

const isOf =
  (file: LoadedFile) =>
  ({ agent }: MissingTool): boolean =>
    agent === file.path

const withoutUnknown = (tools: readonly string[], unknown: ReturnType<typeof unknownTools> = []): readonly string[] =>
  unknown.length === 0 ? tools : tools.filter((name) => unknown.every(({ written }) => written !== name))

interface Team {
  readonly all: readonly LoadedFile[]
  /** The enabled ones. */
  readonly files: readonly LoadedFile[]
  readonly diagnostics: readonly AgentDiagnostic[]
  edgesFrom(file: LoadedFile): readonly Edge[]
}

/** Follows children. Disabled agents have no children and no parents. */
function teamOf(loader: FileLoader, first: readonly LoadedFile[]): Team {
  const edges = new Map<LoadedFile, readonly Edge[]>()
  const found = new Set(first)
  const diagnostics: AgentDiagnostic[] = []
  for (const file of found) {
    if (!file.enabled) {
      diagnostics.push(disabled(file))
      continue
    }
    const own: Edge[] = []
    edges.set(file, own)
    for (const reference of file.children) {
      const to = loader.child(reference, file)
      if (!to) continue
      if (reference.isOptional && leadsTo(to, file, edges)) {
        diagnostics.push(cycleDiagnostic(reference))
        continue
      }
      found.add(to)
      own.push({ from: file, to, reference })
    }
  }
  return {
    all: [...found],
    files: [...found].filter(({ enabled }) => enabled),
    diagnostics,
    edgesFrom: (file) => (edges.get(file) ?? []).filter(({ to }) => to.enabled),
  }
}

function leadsTo(from: LoadedFile, to: LoadedFile, edges: ReadonlyMap<LoadedFile, readonly Edge[]>): boolean {
  const seen = new Set([from])
  for (const file of seen) for (const edge of edges.get(file) ?? []) seen.add(edge.to)
  return seen.has(to)
}

/** Other programs allow cycles; here the call that closes one is left out. */
const cycleDiagnostic = (reference: ChildReference): AgentDiagnostic => ({
  code: 'foreign_agent',
  severity: 'warning',
  place: reference.place,
  message: `\`${reference.written}\` is left out: agents would call each other in a cycle`,
})

/** A foreign agent without models uses those of its parent. */
function modelsOf(file: LoadedFile, callers: ReadonlyMap<LoadedFile, LoadedFile>): readonly string[] {
  const caller = callers.get(file)
  const isSilent = file.dialect !== 'troupe' && !file.values.has('models')
  return isSilent && caller ? modelsOf(caller, callers) : file.agent.models
}

function foundAgent({ agent, place, dialect, enabled, children, metadata }: LoadedFile): FoundAgent {
  const { name, toolName, description, usage, models, tools, approvals } = agent
  return {
    ...{ name, toolName, description, ...(usage !== undefined && { usage }), place, dialect, enabled, models, tools },
    ...(approvals && { approvals }),
    agents: children.map(({ written }) => written),
    metadata,
  }
}

/** The first parent of each child, so that its problems are reported once. */
function firstEdges({ files, edgesFrom }: Team): readonly Edge[] {
  const first = new Map<LoadedFile, Edge>()
  for (const edge of files.flatMap(edgesFrom)) if (!first.has(edge.to)) first.set(edge.to, edge)
  return [...first.values()]
}

function disabled({ place, values }: LoadedFile): AgentDiagnostic {
  return {
    code: 'agent_disabled',
    severity: 'info',
    place: values.get('enabled')?.place ?? place,
    message: 'the agent is disabled and cannot be called',
  }
}

function disabledProblem({ enabled, place, values }: LoadedFile): readonly Problem[] {
  if (enabled) return []
  const option = values.get('enabled')
  const spot = { place: option?.place ?? place, ...(option?.line !== undefined && { line: option.line }) }
  return [{ ...spot, message: 'the agent is disabled', remedy: 'Enable it for this run: --override enabled=true' }]
}

function usageMissing({ agent, dialect, at }: LoadedFile): readonly AgentDiagnostic[] {
  if (dialect !== 'troupe' || agent.usage !== undefined) return []
  const remedy = 'Add an example of its input: `usage: a city and a date`.'
  return [{ code: 'usage_missing', severity: 'info', place: at.place, message: '`usage` is missing; agents that call it need it', remedy }]
}

export function registryError(problems: readonly Problem[]): TroupeError {
  return new TroupeError('agent_file_invalid', `${plural(problems.length, 'problem')} in the agent files.`, { problems })
}
