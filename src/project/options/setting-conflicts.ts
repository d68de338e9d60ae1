import { type AgentOption, type AgentOptionKey, agentOptionKeys, agentOptions } from './agent-options.ts'

interface SettingConflict {
  readonly key: AgentOptionKey
  readonly message: string
  readonly remedy: string
}

type Values = ReadonlyMap<AgentOptionKey, { readonly value: unknown }>

export const contracts = ['input', 'output'] as const
export type Contract = (typeof contracts)[number]

/** `output.format` → `output`. The keys of a contract are set and overridden together. */
export function contractOf(key: string): Contract | undefined {
  return contracts.find((contract) => key.startsWith(`${contract}.`))
}

/** Settings of one source that exclude each other. */
export function findConflicts(values: Values): readonly SettingConflict[] {
  return [...contracts.flatMap((contract) => schemaConflicts(values, contract)), ...aliasConflicts(values)]
}

function schemaConflicts(values: Values, contract: Contract): readonly SettingConflict[] {
  const conflicts: SettingConflict[] = []
  const schemas = ([`${contract}.schema`, `${contract}.schemaRef`] as const).filter((key) => values.has(key))
  if (schemas.length === 2) {
    const message = `\`${contract}\` has both \`schema\` and \`schemaRef\``
    conflicts.push({ key: `${contract}.schemaRef`, message, remedy: 'Remove one of them.' })
  }
  const format = values.get(`${contract}.format`)?.value
  if (schemas.length > 0 && format !== undefined && format !== 'json') {
    const message = `a schema requires the format \`json\`, not \`${String(format)}\``
    conflicts.push({ key: `${contract}.format`, message, remedy: 'Write `format: json`, or remove the schema.' })
  }
  return conflicts
}

const aliasKeys: ReadonlyMap<AgentOptionKey, AgentOptionKey> = new Map(
  agentOptionKeys.flatMap((key) => {
    const { sameAs }: AgentOption = agentOptions[key]
    return sameAs === undefined ? [] : [[key, sameAs] as const]
  }),
)

function aliasConflicts(values: Values): readonly SettingConflict[] {
  return [...aliasKeys].flatMap(([key, sameAs]) =>
    values.has(key) && values.has(sameAs)
      ? [{ key, message: `\`${key}\` and \`${sameAs}\` are the same setting`, remedy: 'Remove one of them.' }]
      : [],
  )
}

/** Moves values of alias keys to the keys that they stand for: `parameters.timeout` to `limits.llmTimeout`. */
export function resolveAliases<V>(values: ReadonlyMap<AgentOptionKey, V>): ReadonlyMap<AgentOptionKey, V> {
  return new Map([...values].map(([key, value]) => [aliasKeys.get(key) ?? key, value]))
}
