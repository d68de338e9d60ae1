import { type AgentOption, type AgentOptionKey, agentOptionKeys, agentOptions } from './agent-options.ts'

export interface SettingConflict {
  readonly key: AgentOptionKey
  readonly message: string
  readonly remedy: string
}

type Stated = ReadonlyMap<AgentOptionKey, { readonly value: unknown }>

export const contracts = ['input', 'output'] as const
export type Contract = (typeof contracts)[number]

/** `output.format` → `output`. A contract is stated, overridden and left to others as a whole. */
export function contractOf(key: string): Contract | undefined {
  return contracts.find((contract) => key.startsWith(`${contract}.`))
}

/** What does not go together among the settings of one source. */
export function findConflicts(values: Stated): readonly SettingConflict[] {
  return [...contracts.flatMap((contract) => schemaConflicts(values, contract)), ...aliasConflicts(values)]
}

function schemaConflicts(values: Stated, contract: Contract): readonly SettingConflict[] {
  const faults: SettingConflict[] = []
  const schemas = ([`${contract}.schema`, `${contract}.schemaRef`] as const).filter((key) => values.has(key))
  if (schemas.length === 2)
    faults.push({
      key: `${contract}.schemaRef`,
      message: `\`${contract}\` has both \`schema\` and \`schemaRef\``,
      remedy: 'Remove one of them.',
    })
  const format = values.get(`${contract}.format`)?.value
  if (schemas.length > 0 && format !== undefined && format !== 'json')
    faults.push({
      key: `${contract}.format`,
      message: `a schema goes with the format \`json\`, not \`${String(format)}\``,
      remedy: 'Write `format: json`, or leave the schema out.',
    })
  return faults
}

const aliasKeys: readonly (readonly [key: AgentOptionKey, sameAs: AgentOptionKey])[] = agentOptionKeys.flatMap((key) => {
  const { sameAs }: AgentOption = agentOptions[key]
  return sameAs === undefined ? [] : [[key, sameAs] as const]
})

function aliasConflicts(values: Stated): readonly SettingConflict[] {
  return aliasKeys.flatMap(([key, sameAs]) =>
    values.has(key) && values.has(sameAs)
      ? [{ key, message: `\`${key}\` and \`${sameAs}\` are the same setting`, remedy: 'Remove one of them.' }]
      : [],
  )
}

/** The values with each under its one name: what `parameters.timeout` says is said of `limits.llmTimeout`. */
export function resolveAliases<V>(values: ReadonlyMap<AgentOptionKey, V>): ReadonlyMap<AgentOptionKey, V> {
  if (!aliasKeys.some(([key]) => values.has(key))) return values
  const twinOf = new Map(aliasKeys)
  return new Map([...values].map(([key, value]) => [twinOf.get(key) ?? key, value]))
}
