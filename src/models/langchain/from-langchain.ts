import type { AttemptContext, Model, ModelAbility, ModelPart, ModelRequest } from '../../contracts/index.ts'
import { countOf, type ForeignModelOptions, factsOf, failureOf, fieldsOf, textOf, untilAborted, withOutputWish } from '../foreign/index.ts'
import { langChainMessages } from './messages.ts'
import { ReplyReader } from './reply-reader.ts'
import { callSettings } from './settings.ts'
import type { LangChainChatModel, LangChainMessage, LangChainTool } from './types.ts'

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
export function fromLangChain(model: LangChainChatModel, options: ForeignModelOptions = {}): Model {
  const facts = factsOf(options, { id: idOf(model), abilities: abilitiesOf(model), ...windowOf(model) })
  return { ...facts, stream: (request, context) => answer({ model, id: facts.id }, request, context) }
}

interface Asked {
  readonly model: LangChainChatModel
  readonly id: string
}

async function* answer({ model, id }: Asked, request: ModelRequest, { signal }: AttemptContext): AsyncGenerator<ModelPart> {
  const { options, notices } = callSettings(model, request.parameters)
  for (const message of notices) yield { type: 'notice', message }
  const reader = new ReplyReader(id, request.messages)
  const messages = langChainMessages(withOutputWish(request.system, request.output), request.messages, id)
  try {
    const chunks = untilAborted(() => withTools(model, request).stream(messages, { ...options, signal }), signal)
    for await (const chunk of chunks) yield* reader.take(chunk)
  } catch (error) {
    if (!signal.aborted) yield { type: 'error', failure: failureOf(error) }
    return
  }
  if (!signal.aborted) yield* reader.end()
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

function windowOf(model: LangChainChatModel): { readonly contextTokens?: number } {
  const tokens = countOf(profileOf(model).maxInputTokens)
  return tokens === undefined ? {} : { contextTokens: tokens }
}

const profileOf = (model: LangChainChatModel) => fieldsOf((model as { readonly profile?: unknown }).profile)
