import type { AgentLimits, JsonObject, ModelParameters, OutputContract } from '../contracts/index.ts'
import { type AgentOptionKey, agentOptions, keysBelow } from './agent-options.ts'

export interface AgentParts {
  readonly description: string
  readonly models: readonly string[]
  readonly parameters: ModelParameters
  readonly limits: Partial<AgentLimits>
  readonly output: OutputContract
}

/** Values that were found to be right, in the shape that the runtime takes. */
export function agentParts(values: ReadonlyMap<AgentOptionKey, { readonly value: unknown }>): AgentParts {
  const said = (key: string): unknown => values.get(key as AgentOptionKey)?.value
  const group = (name: string): object =>
    Object.fromEntries(
      keysBelow(name).flatMap((key) => {
        const value = said(`${name}.${key}`)
        return value === undefined ? [] : [[key, value]]
      }),
    )
  return {
    description: (said('description') as string | undefined) ?? '',
    models: (said('models') as readonly string[] | undefined) ?? [agentOptions.models.default],
    parameters: group('parameters') as ModelParameters,
    limits: group('limits') as Partial<AgentLimits>,
    output: outputOf(said('output.format'), said('output.schema') as JsonObject | undefined),
  }
}

function outputOf(format: unknown, schema: JsonObject | undefined): OutputContract {
  if (schema) return { format: 'json', schema }
  return { format: (format as OutputContract['format'] | undefined) ?? 'markdown' }
}
