import {
  type AgentDescription,
  type AgentLimits,
  boundsOfLimit,
  describeBounds,
  isWithin,
  limitTable,
  type ModelParameters,
  type NumberBounds,
  type OverridableParameter,
  overridableParameters,
  parameterBounds,
  reasoningEfforts,
} from '../../contracts/index.ts'
import { grouped } from '../../view/index.ts'

// Settings that are sent with a message. The server applies them from the next turn on, until others are sent. Pure.

/** As the server takes them. A limit has an effect only if it is lower than that of the agent. */
export interface TurnSettings {
  readonly models?: readonly string[]
  readonly limits?: Pick<Partial<AgentLimits>, Budget>
  readonly parameters?: Pick<ModelParameters, OverridableParameter>
}

type Budget = 'maxTokens' | 'maxCostUsd' | 'timeBudget'
export type SettingName = 'model' | Budget | OverridableParameter

/** As they were typed. */
export type TypedSettings = { readonly [Name in SettingName]?: string }

interface Field {
  readonly label: string
  readonly expected: string
  /** The value for the server; `undefined` if it is wrong. */
  read(typed: string): string | number | undefined
  /** What a chip says. Default: label and value. */
  chip?(typed: string): string
}

const numberField = (bounds: NumberBounds) => ({
  expected: describeBounds(bounds),
  read: (typed: string): number | undefined => {
    const value = Number(typed.replaceAll(',', ''))
    return typed.trim() !== '' && isWithin(value, bounds) ? value : undefined
  },
})
const tokens = numberField(boundsOfLimit('maxTokens'))
const seconds = numberField({ kind: 'number', min: limitTable.timeBudget.min / 1_000 })

export const settingFields: { readonly [Name in SettingName]: Field } = {
  model: { label: 'Model', expected: 'a model of the agent', read: (typed) => typed, chip: (typed) => typed },
  maxTokens: { label: 'Tokens', ...tokens, chip: (typed) => `at most ${grouped(tokens.read(typed) ?? 0)} tokens` },
  maxCostUsd: { label: 'Cost in $', ...numberField(boundsOfLimit('maxCostUsd')), chip: (typed) => `at most $${typed}` },
  timeBudget: {
    label: 'Time in seconds',
    expected: seconds.expected,
    read(typed) {
      const value = seconds.read(typed)
      return value === undefined ? undefined : Math.round(value * 1_000)
    },
    chip: (typed) => `at most ${typed} s`,
  },
  temperature: { label: 'Temperature', ...numberField(parameterBounds.temperature) },
  topP: { label: 'Top P', ...numberField(parameterBounds.topP) },
  maxOutputTokens: { label: 'Output tokens', ...numberField(parameterBounds.maxOutputTokens) },
  seed: { label: 'Seed', ...numberField(parameterBounds.seed) },
  reasoning: {
    label: 'Reasoning',
    expected: `one of ${reasoningEfforts.join(', ')}`,
    read: (typed) => reasoningEfforts.find((each) => each === typed),
  },
}

export const chipText = (name: SettingName, typed: string): string =>
  settingFields[name].chip?.(typed) ?? `${settingFields[name].label.toLowerCase()} ${typed}`

const budgets = ['maxTokens', 'maxCostUsd', 'timeBudget'] as const

/** What callers may set besides the model, which has a menu: the parameters that the agent names, and budgets. */
export const settingsFor = ({ overrides }: Pick<AgentDescription, 'overrides'>): readonly Exclude<SettingName, 'model'>[] => [
  ...budgets,
  ...overridableParameters.filter((name) => overrides.includes(name)),
]

export const typedNames = (typed: TypedSettings): readonly SettingName[] =>
  (Object.keys(settingFields) as SettingName[]).filter((name) => (typed[name] ?? '').trim() !== '')

/** Why a setting is wrong. */
export const settingProblem = (name: SettingName, typed: string): string | undefined =>
  typed.trim() === '' || settingFields[name].read(typed) !== undefined ? undefined : `Expected ${settingFields[name].expected}.`

/** `undefined` if nothing is set. Wrong values are left out: they cannot be sent. */
export function turnSettings(typed: TypedSettings): TurnSettings | undefined {
  const values = typedNames(typed).flatMap((name) => {
    const value = settingFields[name].read(typed[name] ?? '')
    return value === undefined ? [] : [[name, value] as const]
  })
  const group = (names: readonly string[]) => Object.fromEntries(values.filter(([name]) => names.includes(name)))
  const limits = group(budgets)
  const parameters = group(overridableParameters)
  const model = values.find(([name]) => name === 'model')?.[1]
  if (values.length === 0) return undefined
  return {
    ...(model !== undefined && { models: [String(model)] }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
  }
}
