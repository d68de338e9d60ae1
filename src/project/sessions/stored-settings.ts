import {
  type AgentLimits,
  type AgentSpec,
  type InteractionEvent,
  type Problem,
  type RunFlag,
  type RunOrigin,
  type Store,
  type TreeId,
  TroupeError,
} from '../../contracts/index.ts'
import type { OpenOptions } from '../../runtime/index.ts'
import { showDuration, showSize } from '../../util/parse-units.ts'
import { type OverrideArguments, parseOverrides } from '../agent-file/overrides.ts'
import { readOptionVariables } from '../config/variables/option-variables.ts'
import { type AgentOption, type AgentOptionKey, agentOptionKeys, agentOptions } from '../options/agent-options.ts'
import type { AgentOverrides } from '../options/option-values.ts'
import type { RegisteredAgent } from '../registry/registered-agent.ts'

// A resumed session keeps its agent. The command line and variables may change its models, limits and parameters.

/** The settings of the root session in its journal. */
export interface StoredSettings {
  /** The flags that it was started with. */
  readonly flags: readonly RunFlag[]
  /** The agent at the start and now. */
  readonly initial: AgentSpec
  readonly agent: AgentSpec
}

export async function storedSettings({ journal }: Pick<Store, 'journal'>, treeId: TreeId): Promise<StoredSettings | undefined> {
  const events = await journal.read(treeId, 0)
  const [first] = events
  if (first?.type !== 'interaction.session.created') return undefined
  const { agent: initial, sessionId } = first
  const agents = events.flatMap((event) =>
    event.type === 'interaction.session.configured' && event.sessionId === sessionId ? [event.agent] : [],
  )
  return { flags: originIn(first)?.flags ?? [], initial, agent: agents.at(-1) ?? initial }
}

const isChangeable = (key: string): boolean => key === 'models' || /^(?:limits|parameters)\./.test(key)

/** Flags that a resume command must repeat because the journal does not record their settings. */
export const flagsToRepeat = (flags: readonly RunFlag[]): readonly RunFlag[] =>
  flags.filter(({ name, value }) => name !== 'model' && !optionFlags.has(name) && !(name === 'override' && isChangeable(keyIn(value))))

/** Flags that set models, also those of children that have none. The journal has those of the root. */
export const modelFlags = (flags: readonly RunFlag[]): readonly RunFlag[] =>
  flags.filter(({ name, value }) => name === 'model' || (name === 'override' && keyIn(value) === 'models'))

const optionFlags: ReadonlySet<string> = new Set(
  agentOptionKeys.flatMap((key) => (agentOptions[key] satisfies AgentOption as AgentOption).flag?.name ?? []),
)
const keyIn = (setting: string): string => (setting.split('=', 1)[0] ?? '').trim()

/** Settings of the command line and the variables. Models that equal those of the start change nothing. */
export function changedSettings(
  overrides: OverrideArguments,
  env: Parameters<typeof readOptionVariables>[0],
  stored: StoredSettings,
): AgentOverrides {
  const changed = new Map([...readOptionVariables(env).values, ...valuesIn(overrides)])
  const isUnchanged = isSame(stored.initial.models, stored.agent.models)
  if (isUnchanged && isSame(changed.get('models')?.value, settingsAtStart(stored).get('models')?.value)) changed.delete('models')
  return changed
}

const settingsAtStart = ({ flags }: StoredSettings): AgentOverrides => {
  const named = (wanted: string): readonly string[] => flags.flatMap(({ name, value }) => (name === wanted ? [value] : []))
  return valuesIn({ settings: named('override'), models: named('model'), flags: flags.filter(({ name }) => optionFlags.has(name)) })
}

/** Parsed one by one: invalid ones are skipped here and reported when the agent is read. */
function valuesIn({ settings, models = [], flags = [] }: OverrideArguments): AgentOverrides {
  const each: readonly OverrideArguments[] = [
    ...settings.map((setting) => ({ settings: [setting] })),
    { settings: [], models },
    ...flags.map((flag) => ({ settings: [], flags: [flag] })),
  ]
  return new Map(each.flatMap((given) => [...validOverrides(given)]))
}

function validOverrides(given: OverrideArguments): AgentOverrides {
  try {
    return parseOverrides(given)
  } catch (error) {
    if (error instanceof TroupeError) return new Map()
    throw error
  }
}

/** Children without models use those that the session was started with. */
export function withModelsOf(stored: StoredSettings, changed: AgentOverrides, overrides: OverrideArguments): OverrideArguments {
  if (changed.has('models') || !settingsAtStart(stored).has('models')) return overrides
  const settings = overrides.settings.filter((setting) => keyIn(setting) !== 'models')
  return { ...overrides, settings, models: stored.agent.models }
}

/** The error for settings that a resumed session cannot change. Equal values are accepted. */
export function unchangeableError(changed: AgentOverrides, stored: StoredSettings): TroupeError | undefined {
  const atStart = settingsAtStart(stored)
  const problems = [...changed].flatMap(([key, { value, place }]): readonly Problem[] => {
    if (isChangeable(key) || isSame(value, atStart.get(key)?.value) || isSame(value, valueAt(stored.agent, key))) return []
    return [{ place, message: `a resumed session keeps its \`${key}\``, remedy: remedyFor(key) }]
  })
  if (problems.length === 0) return undefined
  const what = problems.length === 1 ? 'One setting' : `${problems.length} settings`
  return new TroupeError('usage', `${what} cannot be changed with --resume.`, { problems })
}

const remedyFor = (key: AgentOptionKey): string =>
  /^(?:approvals|sandbox|tools)\b/.test(key)
    ? 'Remove it and restrict this session with --deny, or start a new session without --resume.'
    : 'Remove it, or start a new session without --resume.'

/** The agent of the file with the settings that were changed for the session and not changed again. */
export function withStoredSettings(
  { definition, ...agent }: RegisteredAgent,
  stored: StoredSettings,
  changed: AgentOverrides,
): RegisteredAgent {
  const atStart = settingsAtStart(stored)
  const isKept = (key: AgentOptionKey): boolean =>
    !changed.has(key) && (atStart.has(key) || !isSame(valueAt(stored.initial, key), valueAt(stored.agent, key)))
  const over = (group: 'limits' | 'parameters'): object =>
    Object.fromEntries(Object.entries(stored.agent[group]).filter(([key]) => isKept(`${group}.${key}` as AgentOptionKey)))
  return {
    ...agent,
    definition: {
      ...definition,
      models: changed.has('models') ? definition.models : stored.agent.models,
      limits: { ...definition.limits, ...over('limits') },
      parameters: { ...definition.parameters, ...over('parameters') },
    },
  }
}

/** The settings to change when the session is opened. `models` are the available ones. */
export function openOptionsOf({ models, limits, parameters }: RegisteredAgent['definition'], changed: AgentOverrides): OpenOptions {
  const picked = (group: string, values: object): object =>
    Object.fromEntries(Object.entries(values).filter(([key]) => changed.has(`${group}.${key}` as AgentOptionKey)))
  return {
    ...(changed.has('models') && { models }),
    limits: picked('limits', limits) satisfies Partial<AgentLimits>,
    parameters: picked('parameters', parameters),
  }
}

/** A notice about settings that differ from before. */
export function changeNotices(changes: OpenOptions, { agent }: StoredSettings): readonly string[] {
  const keys = agentOptionKeys.filter((key) => isChangeable(key) && valueAt(changes, key) !== undefined)
  const lines = keys.flatMap((key) => {
    const [before, now] = [valueAt(agent, key), valueAt(changes, key)]
    return isSame(before, now) ? [] : [`${key} ${shown(key, now)} (was ${shown(key, before)})`]
  })
  return lines.length > 0 ? [`Changed from the next step on: ${lines.join(', ')}`] : []
}

function shown(key: AgentOptionKey, value: unknown): string {
  if (value === undefined) return 'none'
  const { kind } = agentOptions[key].type
  if (kind === 'duration') return showDuration(Number(value))
  return kind === 'size' ? showSize(Number(value)) : [value].flat().join(', ')
}

/** The value of an option in an agent or in `OpenOptions`. */
function valueAt(of: object, key: AgentOptionKey): unknown {
  let at: unknown = of
  for (const name of key.split('.')) at = typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined
  return at
}

const isSame = (a: unknown, b: unknown): boolean => a !== undefined && JSON.stringify(a) === JSON.stringify(b)

/** Where and how a session was started, from its first event. */
export async function originOf({ journal }: Pick<Store, 'journal'>, treeId: TreeId): Promise<RunOrigin | undefined> {
  const [first] = await journal.read(treeId, 0, 1)
  return originIn(first)
}

export const originIn = (first: InteractionEvent | undefined): RunOrigin | undefined =>
  first?.type === 'interaction.session.created' ? first.origin : undefined
