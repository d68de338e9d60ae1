import type { Model, ModelAbility, ModelParameters, ModelRequest, ToolChoice } from '../../contracts/index.ts'
import { countOf, fieldsOf, textOf } from '../../util/unknown-fields.ts'
import type { ErrorNames } from '../failures/index.ts'
import { frameworkModel, type ModelFacts, settledFacts } from '../shared/index.ts'
import { type LangChainChatModel, type LangChainMessage, type LangChainTool, langChainMessages } from './langchain-messages.ts'
import { ReplyReader } from './langchain-reply.ts'

/**
 * Adapts a LangChain chat model. Nothing of LangChain is loaded here.
 *
 * - Build the model with `maxRetries: 0`: Troupe retries, and knows fallback models.
 * - Set temperature and the like where the model is built; a notice reports settings that it does not accept with a call.
 * - JSON is requested by an instruction: `withStructuredOutput` does not stream.
 *
 * @example
 * const model = fromLangChain(new ChatOpenAI({ model: 'gpt-5-mini', maxRetries: 0 }), { id: 'openai/gpt-5-mini' })
 */
export function fromLangChain(model: LangChainChatModel, given: ModelFacts = {}): Model {
  const facts = settledFacts(given, { id: idOf(model), abilities: abilitiesOf(model), ...windowOf(model) })
  return frameworkModel(facts, {
    names,
    reader: (messages) => new ReplyReader(facts.id, messages),
    prepare(request, signal) {
      const { options, notices } = callSettings(model, request.parameters)
      const messages = langChainMessages(request.system, request.messages, facts.id)
      return { notices, open: () => withTools(model, request).stream(messages, { ...options, signal }) }
    },
  })
}

const names: ErrorNames = {
  CONTEXT_OVERFLOW: 'context',
  ContextOverflowError: 'context',
  INVALID_PROMPT_INPUT: 'config',
  INVALID_TOOL_RESULTS: 'config',
  MESSAGE_COERCION_FAILURE: 'config',
  OUTPUT_PARSING_FAILURE: 'invalid_response',
}

/** The parameters that all models accept. The declared type has `never`, so that any model fits it. */
interface Askable {
  stream(messages: readonly LangChainMessage[], options: object): PromiseLike<AsyncIterable<unknown>>
  bindTools?(tools: readonly LangChainTool[], options: object): Askable
}

function withTools(model: LangChainChatModel, { tools, toolChoice }: ModelRequest): Askable {
  const askable = model as unknown as Askable
  if (tools.length === 0 || !askable.bindTools) return askable
  const bound = tools.map(({ name, description, inputSchema }) => ({
    type: 'function' as const,
    function: { name, description, parameters: inputSchema },
  }))
  // Only if needed: some integrations refuse the setting itself.
  return askable.bindTools(bound, toolChoice === 'auto' ? {} : { tool_choice: choiceOf(toolChoice) })
}

/** LangChain takes names of tools beside the words. */
const choiceOf = (choice: Exclude<ToolChoice, 'auto'>): string =>
  typeof choice === 'string' ? (choice === 'required' ? 'any' : choice) : choice.tool

function idOf(model: LangChainChatModel): string {
  const { model: name, modelName } = model as unknown as { readonly model?: unknown; readonly modelName?: unknown }
  return `langchain/${(textOf(name) ?? textOf(modelName) ?? 'model').replaceAll(/\s+/g, '-')}`
}

/** Abilities that the model's profile does not deny. */
function abilitiesOf(model: LangChainChatModel): readonly ModelAbility[] {
  const { toolCalling, imageInputs, pdfInputs, reasoningOutput } = profileOf(model)
  const has: readonly (readonly [ModelAbility, boolean])[] = [
    ['tools', typeof model.bindTools === 'function' && toolCalling !== false],
    ['images', imageInputs !== false],
    ['files', pdfInputs !== false],
    ['reasoning', reasoningOutput !== false],
  ]
  return has.flatMap(([ability, can]) => (can ? [ability] : []))
}

function windowOf(model: LangChainChatModel): { readonly contextTokens?: number; readonly maxOutputTokens?: number } {
  const { maxInputTokens, maxOutputTokens } = profileOf(model)
  const [input, output] = [countOf(maxInputTokens), countOf(maxOutputTokens)]
  return { ...(input !== undefined && { contextTokens: input }), ...(output !== undefined && { maxOutputTokens: output }) }
}

const profileOf = (model: LangChainChatModel) => fieldsOf((model as { readonly profile?: unknown }).profile)

interface CallSettings {
  readonly options: { readonly [name: string]: unknown }
  /** Settings that the model does not accept with a call. */
  readonly notices: readonly string[]
}

/** The names of a setting in the integrations. */
const settingNames: { readonly [Setting in Exclude<keyof ModelParameters, 'cache'>]: readonly string[] } = {
  temperature: ['temperature'],
  topP: ['topP', 'top_p'],
  maxOutputTokens: ['maxTokens', 'max_tokens', 'maxOutputTokens', 'max_output_tokens'],
  seed: ['seed'],
  reasoning: ['reasoning', 'reasoningEffort', 'reasoning_effort'],
}

/**
 * Most settings of a LangChain model belong to its constructor, and it silently ignores others. So only the settings that it
 * lists go with a call; a notice reports the others.
 */
function callSettings(model: LangChainChatModel, parameters: ModelParameters): CallSettings {
  const options: Record<string, unknown> = {}
  const unknown: string[] = []
  const { cache, ...settings } = parameters
  for (const [setting, value] of Object.entries(settings)) {
    if (value === undefined) continue
    const name = settingNames[setting as keyof typeof settingNames]?.find((each) => model.callKeys?.includes(each))
    if (name === undefined) unknown.push(setting)
    else options[name] = name === 'reasoning' ? { effort: value } : value
  }
  // Without a request for a cache there is none anyway.
  if (cache === true) unknown.push('cache')
  return {
    options,
    notices: unknown.map((setting) => `The LangChain model does not take "${setting}" with a call. Set it where the model is built.`),
  }
}
