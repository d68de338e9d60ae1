import type { AgentDescription, JsonObject, OutputContract } from '../../contracts/index.ts'
import { HttpError } from './http-error.ts'

/** `format=json` anywhere: the `schema` of the caller, else that of the agent. `undefined`: the caller leaves it to the agent. */
export function outputOf(
  { format, schema }: { readonly format?: OutputContract['format'] | undefined; readonly schema?: JsonObject | undefined },
  agent: Pick<AgentDescription, 'name' | 'output'>,
): OutputContract | undefined {
  if (format === undefined && schema === undefined) return undefined
  if (schema !== undefined && format !== undefined && format !== 'json')
    throw new HttpError('invalid_request', `A schema needs format=json; the format is "${format}".`, { parameter: 'schema' })
  if (format === 'text' || format === 'markdown') return { format }
  if (schema !== undefined) return { format: 'json', schema }
  if (agent.output.format === 'json' && agent.output.schema) return agent.output
  throw new HttpError('invalid_request', `format=json needs a schema: the agent "${agent.name}" has none of its own.`, {
    parameter: 'schema',
    remedy: 'Send a JSON Schema as `schema`.',
  })
}
