import type { LanguageModelV3CallOptions } from '@ai-sdk/provider'
import type { Model, ModelRequest } from '../../contracts/index.ts'
import { type ErrorNames, type FailureRules, modelFailure, outputMaximum, userBuiltRemedies } from '../failures/index.ts'
import { type ModelFacts, settledFacts, withinAbilities } from '../shared/index.ts'
import { prepareCall } from './call-options.ts'
import { type AiSdkModel, abilitiesOf, type Dialect, dialectOf } from './dialect.ts'
import { type OpenedStream, PartStream } from './part-stream.ts'
import { isSentAsText } from './prompt.ts'
import type { AiSdkPart } from './reply-parts.ts'

export interface FromAiSdkOptions extends ModelFacts {
  /** How to request caching, schema mode and reasoning. Default: by the name of the model's provider. */
  readonly dialect?: Dialect
}

/**
 * Adapts any language model of the AI SDK: `fromAiSdk(openai('gpt-5-mini'))`. Only its `doStream` is used; the runtime does
 * steps, retries and tools. `@ai-sdk/openai-compatible` drops the signatures that OpenRouter puts into `reasoning_details`.
 */
export function fromAiSdk(model: AiSdkModel, options: FromAiSdkOptions = {}): Model {
  return aiSdkModel(model, options, { remedies: userBuiltRemedies })
}

/** The same with rules for failures of a known provider. */
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
  /** The maximum output that the provider has named in a refusal. */
  maxOutputTokens?: number
}

/** A budget may allow more output than the model supports. If the provider names its maximum, the request is repeated with it. */
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
  const { request, notices: unable } = withinAbilities(wanted, facts, isSentAsText)
  const rules = { model, dialect, takesSchema: facts.abilities.includes('json_schema') }
  const { options, notices } = await prepareCall(request, rules)
  // `prepareCall` handles the differences between both specifications.
  const call = { ...options, abortSignal: signal } as typeof options & LanguageModelV3CallOptions
  const { stream, response } = await model.doStream(call)
  const headers = Object.entries(response?.headers ?? {})
  const contentType = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  return { stream: stream as ReadableStream<AiSdkPart>, contentType, notices: [...unable, ...notices] }
}
