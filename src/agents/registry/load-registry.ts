/*
 * 1. A file is read once, whichever ways lead to it.
 * 2. Everything that is wrong in any file is told at once; where anything is, there are no agents.
 * 3. Nothing is started, asked or compiled here.
 */
import { type Problem, TroupeError } from '../../contracts/index.ts'
import { builtinToolNames } from '../../policy/builtin-tool-names.ts'
import { agentPrefix } from '../../policy/foreign-tools.ts'
import { knownRules } from '../../policy/tool-name-problems.ts'
import type { FileState } from '../config/trust/trust-records.ts'
import { configuredSources } from '../config/unknown-names.ts'
import type { AgentDiagnostic } from './agent-diagnostic.ts'
import { assignNames } from './assign-names.ts'
import { FileLoader } from './file-loader.ts'
import { fillPrompts } from './fill-prompts.ts'
import type { ChildReference, LoadedFile, ReadableFile } from './loaded-file.ts'
import type { FoundAgent, RegisteredAgent } from './registered-agent.ts'
import type { RegistryOptions } from './registry-options.ts'
import { childProblems, cycleProblems, type Edge, ruleProblems, toolProblems } from './team-checks.ts'

interface FoundFiles {
  /** Every file that was looked into. */
  readonly files: readonly string[]
  /** Every agent that could be read, usable or not. */
  readonly found: readonly FoundAgent[]
  /** What every file says that could be read, so that whoever knows models and schemas can check that too. */
  readonly said: readonly ReadableFile[]
  readonly diagnostics: readonly AgentDiagnostic[]
  /** Files of other programs that nobody has trusted as they are: less of them counts. */
  readonly untrusted: readonly FileState[]
}
export type Registry = FoundFiles &
  (
    | {
        readonly ok: true
        /** Those that can be used, in the order in which they were found. */
        readonly agents: readonly RegisteredAgent[]
        /** The names of those that were asked for. */
        readonly roots: readonly string[]
      }
    | { readonly ok: false; readonly problems: readonly Problem[] }
  )

/** Finds agents and their children, and checks all of them. */
export async function loadRegistry(options: RegistryOptions): Promise<Registry> {
  const loader = new FileLoader(options)
  const roots = options.roots.flatMap((written) => loader.root(written) ?? [])
  const configured = options.scope === 'everything' ? loader.configured() : []
  const team = teamOf(loader, [...roots, ...configured, ...loader.faulty])
  const { files, edgesFrom } = team
  // What a file with problems of its own says of itself is not verdicts a second time; its prompt and its ways are.
  const isRight = (file: LoadedFile): boolean => !loader.faulty.has(file)
  const usable = files.filter(isRight)
  const named = assignNames(usable, edgesFrom)
  const filled = await fillPrompts(files)
  const tools = options.tools ?? builtinToolNames
  const ruled = [...tools, ...files.map(({ agent }) => `${agentPrefix}${agent.toolName}`)]
  const problems = [
    ...loader.problems,
    ...(options.scope === 'reachable' ? roots.filter(isRight).flatMap(disabledProblem) : []),
    ...usable.flatMap((file) => toolProblems(file, tools)),
    ...files.flatMap((file) => ruleProblems(file, { tools: ruled, sources: configuredSources(options.config) })),
    ...firstEdges(team).flatMap((edge) => (isRight(edge.to) && !edge.reference.isOptional ? childProblems(edge) : [])),
    ...cycleProblems(files, edgesFrom),
    ...named.problems,
    ...filled.problems,
  ]
  const children = new Set(files.flatMap((file) => edgesFrom(file).map(({ to }) => to)))
  const looked: FoundFiles = {
    files: loader.places,
    found: team.all.filter(isRight).map(foundAgent),
    said: loader.said,
    untrusted: loader.untrusted,
    diagnostics: [
      ...loader.diagnostics,
      ...team.diagnostics,
      ...files.flatMap((file) => [...file.diagnostics, ...(children.has(file) || !isRight(file) ? [] : usageMissing(file))]),
    ],
  }
  if (problems.length > 0) return { ok: false, problems, ...looked }
  const nameOf = (file: LoadedFile): string => named.names.get(file) ?? file.agent.name
  const callers = new Map(firstEdges(team).map(({ from, to }) => [to, from]))
  const agents = usable.map((file): RegisteredAgent => {
    const { agent, path, place, dialect, disabledSkills, metadata, values } = file
    const prompt = filled.prompts.get(file) ?? agent.prompt
    return {
      definition: {
        ...agent,
        name: nameOf(file),
        prompt,
        models: modelsOf(file, callers),
        agents: [...new Set(edgesFrom(file).map(({ to }) => nameOf(to)))],
        // Until servers can be started, a rule about one of their tools matches nothing.
        ...(agent.approvals && { approvals: knownRules(agent.approvals, { tools: ruled, sources: [] }) }),
      },
      path,
      place,
      dialect,
      isChild: children.has(file),
      disabledSkills,
      metadata,
      values,
      references: file.children.map(({ written }) => written),
    }
  })
  return { ok: true, agents, roots: roots.filter(({ enabled }) => enabled).map(nameOf), ...looked }
}

interface Team {
  readonly all: readonly LoadedFile[]
  /** Those that are enabled. */
  readonly files: readonly LoadedFile[]
  readonly diagnostics: readonly AgentDiagnostic[]
  edgesFrom(file: LoadedFile): readonly Edge[]
}

/** Follows everybody's children. Who is disabled calls nobody and is called by nobody. */
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

/** Programs that let agents call each other in circles have other bounds; what is dropped is told. */
const cycleDiagnostic = (reference: ChildReference): AgentDiagnostic => ({
  code: 'foreign_agent',
  severity: 'warning',
  place: reference.place,
  message: `\`${reference.written}\` is left out: agents would call themselves`,
})

/** A file of another program that names no model means that of whoever calls it. */
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

/** For each child, the first that calls it: what it must say is told once. */
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
    message: 'the agent is disabled, so nobody can call it',
  }
}

function disabledProblem({ enabled, place, values }: LoadedFile): readonly Problem[] {
  if (enabled) return []
  const said = values.get('enabled')
  const spot = { place: said?.place ?? place, ...(said?.line !== undefined && { line: said.line }) }
  return [{ ...spot, message: 'the agent is disabled', remedy: 'Enable it for this run: --override enabled=true' }]
}

function usageMissing({ agent, dialect, at }: LoadedFile): readonly AgentDiagnostic[] {
  if (dialect !== 'troupe' || agent.usage !== undefined) return []
  const remedy = 'Give an example of what it is asked: `usage: a city and a date`.'
  return [
    { code: 'usage_missing', severity: 'info', place: at.place, message: '`usage` is missing; whoever calls it would need it', remedy },
  ]
}

/** The problems of a registry as one error. */
export function registryError(problems: readonly Problem[]): TroupeError {
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  return new TroupeError('agent_file_invalid', `The agents have ${count}.`, { problems })
}
