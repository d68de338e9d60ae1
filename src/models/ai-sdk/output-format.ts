import { type JsonSchema, jsonInstruction, type ModelRequest } from '../../contracts/index.ts'
import { type AiSdkModel, type Dialect, speaksResponses } from './dialect.ts'
import { fitsAnthropicMode, fitsGeminiMode, fitsLooseMode, fitsStrictMode } from './schema-limits.ts'

/** How JSON is requested: by a setting of the provider, by an instruction, or by both. */
interface OutputRequest {
  readonly schema?: JsonSchema
  /** Whether the provider enforces the schema. */
  readonly strict: boolean
  /** Appended to the system text. */
  readonly words?: string
}

const noOutputRequest: OutputRequest = { strict: false }

export interface OutputRules {
  readonly model: AiSdkModel
  readonly dialect: Dialect
  /** The model supports a schema: many OpenAI-compatible servers refuse one. */
  readonly takesSchema: boolean
}

/**
 * Without a schema, or where a schema mode would interfere with tools, an instruction is used: JSON modes without a schema
 * force an object.
 */
export function outputRequest({ output, tools, toolChoice }: ModelRequest, rules: OutputRules): OutputRequest {
  if (!output) return noOutputRequest
  const { schema } = output
  const words = jsonInstruction(output)
  if (!schema || !rules.takesSchema) return { strict: false, words }
  switch (rules.dialect) {
    case 'openai':
      return fitsLooseMode(schema) ? { schema, strict: fitsStrictMode(schema) } : { strict: false, words }
    case 'anthropic':
      // Otherwise the package adds a tool of its own and forces its use.
      return hasAnthropicMode(rules.model.modelId) && fitsAnthropicMode(schema) ? { schema, strict: true } : { strict: false, words }
    case 'google':
      return (tools.length === 0 || hasToolsBesideSchema(rules.model.modelId)) && fitsGeminiMode(schema)
        ? { schema, strict: true }
        : { strict: false, words }
    case 'openai-compatible':
    case 'plain': {
      // Local servers enforce the schema on the whole reply, including calls. The instruction stays, so that the prefix of the
      // request is the same in every step.
      const isFree = tools.length === 0 || toolChoice === 'none'
      return isFree && fitsLooseMode(schema) ? { schema, strict: fitsStrictMode(schema), words } : { strict: false, words }
    }
    default:
      return rules.dialect satisfies never
  }
}

// Claude 3 and the first releases of Claude 4 have no schema mode.
const hasAnthropicMode = (modelId: string): boolean =>
  modelId.includes('claude-') && !/claude-(?:instant|2|3|(?:opus|sonnet)-4(?:-0|-2025|@|$))/.test(modelId)

// Gemini supports a schema together with tools since version 3.
const hasToolsBesideSchema = (modelId: string): boolean => Number(/gemini-(\d+)/.exec(modelId)?.[1] ?? 0) >= 3

/** Provider options for the schema. */
export function outputOptions({ schema, strict }: OutputRequest, { model, dialect }: OutputRules): { readonly [name: string]: unknown } {
  switch (dialect) {
    case 'openai':
      // The whole history is sent every time, so nothing has to be stored. Reasoning then comes encrypted, to be sent back.
      return { ...(speaksResponses(model) && { store: false }), ...(schema && { strictJsonSchema: strict }) }
    case 'openai-compatible':
      return schema ? { strictJsonSchema: strict } : {}
    case 'anthropic':
      return schema ? { structuredOutputMode: 'outputFormat' } : {}
    case 'google':
    case 'plain':
      return {}
    default:
      return dialect satisfies never
  }
}
