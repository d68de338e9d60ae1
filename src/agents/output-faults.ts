import type { AgentOptionKey } from './agent-options.ts'

export interface OutputFault {
  readonly key: AgentOptionKey
  readonly message: string
  readonly remedy: string
}

/** What does not go together in an output contract. */
export function outputFaults(values: ReadonlyMap<AgentOptionKey, { readonly value: unknown }>): readonly OutputFault[] {
  const faults: OutputFault[] = []
  const schemas = (['output.schema', 'output.schemaRef'] as const).filter((key) => values.has(key))
  if (schemas.length === 2)
    faults.push({
      key: 'output.schemaRef',
      message: '`output` has both `schema` and `schemaRef`',
      remedy: 'Leave one of them out.',
    })
  const format = values.get('output.format')?.value
  if (schemas.length > 0 && format !== undefined && format !== 'json')
    faults.push({
      key: 'output.format',
      message: `a schema goes with the format \`json\`, not \`${String(format)}\``,
      remedy: 'Write `format: json`, or leave the schema out.',
    })
  return faults
}
