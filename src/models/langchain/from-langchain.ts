import type { Model, ModelAbility, ModelParameters, ModelRequest } from '../../contracts/index.ts'
import type { ErrorNames } from '../failures/index.ts'
import { countOf, fieldsOf, frameworkModel, type ModelFacts, settledFacts, textOf } from '../shared/index.ts'
import { type LangChainChatModel, type LangChainMessage, type LangChainTool, langChainMessages } from './langchain-messages.ts'
import { ReplyReader } from './langchain-reply.ts'

/**
 * A LangChain chat model as a model of ours. It goes by what the object can do: nothing of LangChain is loaded here.
 *
 * - Build the model with `maxRetries: 0`: retries are the loop's, which also knows other models to turn to.
 * - Temperature and the like belong where the model is built; what it does not take with a call is told in a notice.
 * - A wish for JSON is put into words: `withStructuredOutput` would take the stream away.
 *
 * @example
 * const model = fromLangChain(new ChatOpenAI({ model: 'gpt-5-mini', maxRetries: 0 }), { id: 'openai/gpt-5-mini' })
 */
export function fromLangChain(model: LangChainChatModel, told: ModelFacts = {}): Model {
  const facts = settledFacts(told, { id: idOf(model), abilities: abilitiesOf(model), ...windowOf(model) })
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

/** The model with parameters that can be given: any model fits the declared type, and this is what they all take. */
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
  // Left out unless it is needed: some integrations refuse the setting itself.
  return askable.bindTools(bound, toolChoice === 'none' ? { tool_choice: 'none' } : {})
}

function idOf(model: LangChainChatModel): string {
  const { model: name, modelName } = model as unknown as { readonly model?: unknown; readonly modelName?: unknown }
  return `langchain/${(textOf(name) ?? textOf(modelName) ?? 'model').replaceAll(/\s+/g, '-')}`
}

/** What the model's profile denies is not offered; where there is none, the provider will tell. */
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
  /** What the model cannot be asked for with a call. */
  readonly notices: readonly string[]
}

/** The settingNames under which integrations take a setting with a call. */
const settingNames: { readonly [Setting in Exclude<keyof ModelParameters, 'cache'>]: readonly string[] } = {
  temperature: ['temperature'],
  topP: ['topP', 'top_p'],
  maxOutputTokens: ['maxTokens', 'max_tokens', 'maxOutputTokens', 'max_output_tokens'],
  seed: ['seed'],
  reasoning: ['reasoning', 'reasoningEffort', 'reasoning_effort'],
}

/**
 * Most settings of a LangChain model belong to its constructor, and one that it does not take with a call is dropped
 * without a word. So only those go with the call that it lists, and the others are told.
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
  // Not to be asked for a cache is what happens anyway.
  if (cache === true) unknown.push('cache')
  return {
    options,
    notices: unknown.map((setting) => `The LangChain model does not take "${setting}" with a call. Set it where the model is built.`),
  }
}
