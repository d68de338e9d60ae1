import type {
  AgentLimits,
  ApprovalRule,
  InputContract,
  JsonObject,
  ModelParameters,
  OutputContract,
  SandboxPolicy,
} from '../contracts/index.ts'
import { type AgentOptionKey, agentOptions, keysBelow } from './agent-options.ts'

/** What the settings of an agent say of it, whoever wrote its file. */
export interface AgentParts {
  readonly description: string
  /** One example of its input, for whoever calls it. */
  readonly usage?: string
  /** The name that parents know it by. */
  readonly toolName?: string
  readonly models: readonly string[]
  /** A file that names no tools has none. */
  readonly tools: readonly string[]
  /** Names and patterns, as written; `agentSkills` tells which skills these are. A file that names none has none. */
  readonly skills: readonly string[]
  /** Its own rules. Absent where it has none. */
  readonly approvals?: readonly ApprovalRule[]
  /** What its commands may do less than those of the session; only what is stated. */
  readonly sandbox?: Partial<SandboxPolicy>
  /** Only what is stated; so too the limits. */
  readonly parameters: ModelParameters
  readonly limits: Partial<AgentLimits>
  readonly input: InputContract
  readonly output: OutputContract
}

/** Values that were found to be right, in the shape that the runtime takes. */
export function agentParts(values: ReadonlyMap<AgentOptionKey, { readonly value: unknown }>): AgentParts {
  const said = <T>(key: AgentOptionKey): T | undefined => values.get(key)?.value as T | undefined
  const group = (name: string): object =>
    Object.fromEntries(
      keysBelow(name).flatMap((key) => {
        const value = said(`${name}.${key}` as AgentOptionKey)
        return value === undefined ? [] : [[key, value]]
      }),
    )
  const usage = said<string>('usage')
  const toolName = said<string>('toolName')
  const rules = said<readonly ApprovalRule[]>('approvals.rules') ?? []
  const sandbox = group('sandbox') as Partial<SandboxPolicy>
  return {
    description: said<string>('description') ?? '',
    ...(usage !== undefined && { usage }),
    ...(toolName !== undefined && { toolName }),
    models: said<readonly string[]>('models') ?? [agentOptions.models.default],
    tools: said<readonly string[]>('tools') ?? [],
    skills: said<readonly string[]>('skills') ?? [],
    ...(rules.length > 0 && { approvals: rules }),
    ...(Object.keys(sandbox).length > 0 && { sandbox }),
    parameters: group('parameters') as ModelParameters,
    limits: group('limits') as Partial<AgentLimits>,
    input: inputOf(said('input.format'), said<JsonObject>('input.schema')),
    output: outputOf(said('output.format'), said<JsonObject>('output.schema')),
  }
}

/** JSON without a schema is any object: what is given by a call is one. */
function inputOf(format: unknown, schema: JsonObject | undefined): InputContract {
  if (schema) return { format: 'json', schema }
  return format === 'json' ? { format, schema: { type: 'object' } } : { format: 'text' }
}

function outputOf(format: unknown, schema: JsonObject | undefined): OutputContract {
  if (schema) return { format: 'json', schema }
  return { format: (format as OutputContract['format'] | undefined) ?? 'markdown' }
}
