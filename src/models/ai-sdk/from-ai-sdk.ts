import type { LanguageModelV3CallOptions } from '@ai-sdk/provider'
import type { Model, ModelRequest } from '../../contracts/index.ts'
import { builtByItsUser, type ErrorNames, type FailureRules, modelFailure, outputMaximum } from '../failures/index.ts'
import { type ModelFacts, settledFacts, withinAbilities } from '../shared/index.ts'
import { prepareCall } from './call-options.ts'
import { type AiSdkModel, abilitiesOf, type Dialect, dialectOf } from './dialect.ts'
import { type OpenedStream, PartStream } from './part-stream.ts'
import { isSaidInWords } from './prompt.ts'
import type { AiSdkPart } from './reply-parts.ts'

export interface FromAiSdkOptions extends ModelFacts {
  /** How cache marks, schema mode and reasoning are asked for. Default: by the name of the model's provider. */
  readonly dialect?: Dialect
}

/**
 * Any language model of the AI SDK as a model of ours: `fromAiSdk(openai('gpt-5-mini'))`. Only its `doStream` is used;
 * steps, retries and tools stay with the runtime.
 *
 * A model of `@ai-sdk/openai-compatible` loses the signatures that OpenRouter puts into `reasoning_details`: the package
 * does not read them, so a thought that was signed goes back without its seal.
 */
export function fromAiSdk(model: AiSdkModel, options: FromAiSdkOptions = {}): Model {
  return aiSdkModel(model, options, { remedies: builtByItsUser })
}

/** The same, for those who know more about the provider than its model tells. */
export function aiSdkModel(model: AiSdkModel, options: FromAiSdkOptions, failures: FailureRules): Model {
  const dialect = options.dialect ?? dialectOf(model)
  const facts = settledFacts(options, {
    id: `${model.provider.split('.')[0]}/${model.modelId}`,
    abilities: abilitiesOf(model, dialect),
  })
  const readFailure = (error: unknown) => modelFailure(error, { ...failures, names })
  const asked: Asked = { model, dialect, facts }
  return {
    ...facts,
    stream: (request, { signal }) => new PartStream({ open: (cancelled) => open(request, asked, cancelled), readFailure }, signal),
  }
}

const names: ErrorNames = {
  AI_LoadAPIKeyError: 'auth',
  AI_LoadSettingError: 'config',
  AI_InvalidArgumentError: 'config',
  AI_InvalidPromptError: 'config',
  AI_NoSuchModelError: 'config',
  AI_NoSuchProviderReferenceError: 'config',
  AI_UnsupportedFunctionalityError: 'config',
  AI_UnsupportedModelVersionError: 'config',
  AI_EmptyResponseBodyError: 'invalid_response',
  AI_InvalidResponseDataError: 'invalid_response',
  AI_JSONParseError: 'invalid_response',
  AI_NoContentGeneratedError: 'invalid_response',
  AI_TypeValidationError: 'invalid_response',
}

interface Asked {
  readonly model: AiSdkModel
  readonly dialect: Dialect
  readonly facts: Omit<Model, 'stream'>
  /** The most output that the provider has named when it refused more. */
  maxOutputTokens?: number
}

/** A budget sends a cap that may be more than the model can produce: where the provider says so, the maximum that it names is the cap. */
async function open(wanted: ModelRequest, asked: Asked, signal: AbortSignal): Promise<OpenedStream> {
  const { maxOutputTokens } = wanted.parameters
  const known = asked.maxOutputTokens ?? Number.POSITIVE_INFINITY
  if (maxOutputTokens === undefined) return openAsIs(wanted, asked, signal)
  try {
    return await openAsIs(maxOutputTokens > known ? withCap(wanted, known) : wanted, asked, signal)
  } catch (error) {
    const most = outputMaximum(error)
    if (most === undefined || most.tokens < 1 || most.tokens >= Math.min(maxOutputTokens, known)) throw error
    if (!most.isForRequest) asked.maxOutputTokens = most.tokens
    return openAsIs(withCap(wanted, most.tokens), asked, signal)
  }
}

const withCap = (request: ModelRequest, maxOutputTokens: number): ModelRequest => ({
  ...request,
  parameters: { ...request.parameters, maxOutputTokens },
})

async function openAsIs(wanted: ModelRequest, { model, dialect, facts }: Asked, signal: AbortSignal): Promise<OpenedStream> {
  const { request, notices: unable } = withinAbilities(wanted, facts, isSaidInWords)
  const rules = { model, dialect, takesSchema: facts.abilities.includes('json_schema') }
  const { options, notices } = await prepareCall(request, rules)
  // Both specifications differ only in what `prepareCall` has taken care of.
  const call = { ...options, abortSignal: signal } as typeof options & LanguageModelV3CallOptions
  const { stream, response } = await model.doStream(call)
  const headers = Object.entries(response?.headers ?? {})
  const contentType = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  return { stream: stream as ReadableStream<AiSdkPart>, contentType, notices: [...unable, ...notices] }
}
