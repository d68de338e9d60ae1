import { type JsonSchema, jsonInstruction, type ModelRequest } from '../../contracts/index.ts'
import { type AiSdkModel, type Dialect, speaksResponses } from './dialect.ts'
import { fitsAnthropicMode, fitsGeminiMode, fitsLooseMode, fitsStrictMode } from './schema-limits.ts'

/** How the wish for JSON is put: as a setting of the provider, in words, or both. */
interface OutputWish {
  readonly schema?: JsonSchema
  /** Whether the provider holds the model to every letter of the schema. */
  readonly strict: boolean
  /** Goes to the end of the system text. */
  readonly words?: string
}

const noWish: OutputWish = { strict: false }

export interface OutputRules {
  readonly model: AiSdkModel
  readonly dialect: Dialect
  /** The model takes a schema: many servers that speak OpenAI's format refuse requests with one. */
  readonly takesSchema: boolean
}

/**
 * Where there is no schema, words do: the modes without one force an object, which nobody has asked for.
 * Where a mode would get in the way of tools, words do too.
 */
export function outputWish({ output, tools, toolChoice }: ModelRequest, rules: OutputRules): OutputWish {
  if (!output) return noWish
  const { schema } = output
  const words = jsonInstruction(output)
  if (!schema || !rules.takesSchema) return { strict: false, words }
  switch (rules.dialect) {
    case 'openai':
      return fitsLooseMode(schema) ? { schema, strict: fitsStrictMode(schema) } : { strict: false, words }
    case 'anthropic':
      // Otherwise the package would put a tool of its own before the agent's, and force its use.
      return hasAnthropicMode(rules.model.modelId) && fitsAnthropicMode(schema) ? { schema, strict: true } : { strict: false, words }
    case 'google':
      return (tools.length === 0 || hasToolsBesideSchema(rules.model.modelId)) && fitsGeminiMode(schema)
        ? { schema, strict: true }
        : { strict: false, words }
    case 'openai-compatible':
    case 'plain': {
      // Local servers hold the whole reply to the schema, calls included. The words stay, so that the beginning of
      // the request is the same in every step.
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

// Gemini takes a schema beside tools from its third generation on.
const hasToolsBesideSchema = (modelId: string): boolean => Number(/gemini-(\d+)/.exec(modelId)?.[1] ?? 0) >= 3

/** What goes with the schema, by provider. */
export function outputOptions({ schema, strict }: OutputWish, { model, dialect }: OutputRules): { readonly [name: string]: unknown } {
  switch (dialect) {
    case 'openai':
      // Whoever repeats the whole history needs nothing kept; then thoughts come encrypted, to be sent back.
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
