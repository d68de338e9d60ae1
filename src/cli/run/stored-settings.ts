import {
  type AgentOption,
  type AgentOptionKey,
  type AgentOverrides,
  agentOptionKeys,
  agentOptions,
  type OverrideArguments,
  parseOverrides,
  type RegisteredAgent,
  readOptionVariables,
} from '../../agents/index.ts'
import {
  type AgentLimits,
  type AgentSpec,
  type Problem,
  type RunFlag,
  type Store,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import type { OpenOptions } from '../../runtime/index.ts'
import { showDuration, showSize } from '../../util/parse-units.ts'
import { originIn } from './run-origin.ts'

// A run that is taken up keeps the agent that it began with. Its models, limits and parameters may be said anew.

/** What the journal of a run says about its root. */
export interface StoredSettings {
  /** What its command line said when it was started. */
  readonly flags: readonly RunFlag[]
  /** The agent as it began, and as it is now. */
  readonly begun: AgentSpec
  readonly agent: AgentSpec
}

export async function storedSettings({ journal }: Pick<Store, 'journal'>, treeId: TreeId): Promise<StoredSettings | undefined> {
  const events = await journal.read(treeId, 0)
  const [first] = events
  if (first?.type !== 'interaction.session.created') return undefined
  const { agent: begun, sessionId } = first
  const agents = events.flatMap((event) =>
    event.type === 'interaction.session.configured' && event.sessionId === sessionId ? [event.agent] : [],
  )
  return { flags: originIn(first)?.flags ?? [], begun, agent: agents.at(-1) ?? begun }
}

const isChangeable = (key: string): boolean => key === 'models' || /^(?:limits|parameters)\./.test(key)

/** Of flags that a run was started with, those that its journal does not answer for: they have to be said again. */
export const withoutKept = (flags: readonly RunFlag[]): readonly RunFlag[] =>
  flags.filter(({ name, value }) => name !== 'model' && !optionFlags.has(name) && !(name === 'override' && isChangeable(keyIn(value))))

const optionFlags: ReadonlySet<string> = new Set(
  agentOptionKeys.flatMap((key) => (agentOptions[key] satisfies AgentOption as AgentOption).flag?.name ?? []),
)
const keyIn = (setting: string): string => (setting.split('=', 1)[0] ?? '').trim()

/** What a command line and the variables say about the agent of a run. Models that are said as they were at first are as they are. */
export function saidAnew(
  overrides: OverrideArguments,
  env: Parameters<typeof readOptionVariables>[0],
  kept: StoredSettings,
): AgentOverrides {
  const said = new Map([...readOptionVariables(env).values, ...valuesIn(overrides)])
  const isUnchanged = isSame(kept.begun.models, kept.agent.models)
  if (isUnchanged && isSame(said.get('models')?.value, saidAtFirst(kept).get('models')?.value)) said.delete('models')
  return said
}

const saidAtFirst = ({ flags }: StoredSettings): AgentOverrides => {
  const named = (wanted: string): readonly string[] => flags.flatMap(({ name, value }) => (name === wanted ? [value] : []))
  return valuesIn({ settings: named('override'), models: named('model'), flags: flags.filter(({ name }) => optionFlags.has(name)) })
}

/** One by one: what is wrong with some is told where the agent is read, and hides nothing of the others. */
function valuesIn({ settings, models = [], flags = [] }: OverrideArguments): AgentOverrides {
  const each: readonly OverrideArguments[] = [
    ...settings.map((setting) => ({ settings: [setting] })),
    { settings: [], models },
    ...flags.map((flag) => ({ settings: [], flags: [flag] })),
  ]
  return new Map(each.flatMap((written) => [...rightOf(written)]))
}

function rightOf(written: OverrideArguments): AgentOverrides {
  try {
    return parseOverrides(written)
  } catch (error) {
    if (error instanceof TroupeError) return new Map()
    throw error
  }
}

/** Children that name no model ask those that their run was told to ask. */
export function withModelsOf(kept: StoredSettings, said: AgentOverrides, overrides: OverrideArguments): OverrideArguments {
  if (said.has('models') || !saidAtFirst(kept).has('models')) return overrides
  const settings = overrides.settings.filter((setting) => keyIn(setting) !== 'models')
  return { ...overrides, settings, models: kept.agent.models }
}

/** What is said about a run that it cannot be told any more, unless it is as it was. */
export function unchangeable(said: AgentOverrides, kept: StoredSettings): TroupeError | undefined {
  const atFirst = saidAtFirst(kept)
  const problems = [...said].flatMap(([key, { value, place }]): readonly Problem[] => {
    if (isChangeable(key) || isSame(value, atFirst.get(key)?.value) || isSame(value, valueAt(kept.agent, key))) return []
    return [{ place, message: `a resumed session keeps its \`${key}\``, remedy: remedyFor(key) }]
  })
  if (problems.length === 0) return undefined
  const what = problems.length === 1 ? 'something' : `${problems.length} things`
  return new TroupeError('usage', `With --resume, ${what} cannot be changed.`, { problems })
}

const remedyFor = (key: AgentOptionKey): string =>
  /^(?:approvals|sandbox|tools)\b/.test(key)
    ? 'Leave it out: --deny forbids more in this session. Or start a new one without --resume.'
    : 'Leave it out, or start a new session without --resume.'

/** The agent of the file with what its run says over it: what was changed for that run, and is not said anew. */
export function asKept({ definition, ...agent }: RegisteredAgent, kept: StoredSettings, said: AgentOverrides): RegisteredAgent {
  const atFirst = saidAtFirst(kept)
  const holds = (key: AgentOptionKey): boolean =>
    !said.has(key) && (atFirst.has(key) || !isSame(valueAt(kept.begun, key), valueAt(kept.agent, key)))
  const over = (group: 'limits' | 'parameters'): object =>
    Object.fromEntries(Object.entries(kept.agent[group]).filter(([key]) => holds(`${group}.${key}` as AgentOptionKey)))
  return {
    ...agent,
    definition: {
      ...definition,
      models: said.has('models') ? definition.models : kept.agent.models,
      limits: { ...definition.limits, ...over('limits') },
      parameters: { ...definition.parameters, ...over('parameters') },
    },
  }
}

/** What a run is to be taken up with. The models are those that were found. */
export function changesSaid({ models, limits, parameters }: RegisteredAgent['definition'], said: AgentOverrides): OpenOptions {
  const picked = (group: string, values: object): object =>
    Object.fromEntries(Object.entries(values).filter(([key]) => said.has(`${group}.${key}` as AgentOptionKey)))
  return {
    ...(said.has('models') && { models }),
    limits: picked('limits', limits) satisfies Partial<AgentLimits>,
    parameters: picked('parameters', parameters),
  }
}

/** What a person should know about it: what is other than before. */
export function changesInWords(changes: OpenOptions, { agent }: StoredSettings): readonly string[] {
  const keys = agentOptionKeys.filter((key) => isChangeable(key) && valueAt(changes, key) !== undefined)
  const told = keys.flatMap((key) => {
    const [before, now] = [valueAt(agent, key), valueAt(changes, key)]
    return isSame(before, now) ? [] : [`${key} ${shown(key, now)} (so far ${shown(key, before)})`]
  })
  return told.length > 0 ? [`From here on: ${told.join(', ')}`] : []
}

function shown(key: AgentOptionKey, value: unknown): string {
  if (value === undefined) return 'none'
  const { kind } = agentOptions[key].type
  if (kind === 'duration') return showDuration(Number(value))
  return kind === 'size' ? showSize(Number(value)) : [value].flat().join(', ')
}

/** The value of an option in an agent, or in what has the same groups. */
function valueAt(of: object, key: AgentOptionKey): unknown {
  let at: unknown = of
  for (const name of key.split('.')) at = typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined
  return at
}

const isSame = (a: unknown, b: unknown): boolean => a !== undefined && JSON.stringify(a) === JSON.stringify(b)
