import type { LanguageModelV3CallOptions } from '@ai-sdk/provider'
import type { Model, ModelAbility, ModelRequest, Usage } from '../../contracts/index.ts'
import { type CallRules, prepareCall } from './call-options.ts'
import { type AiSdkModel, type Dialect, dialectOf } from './dialect.ts'
import { type FailureRules, failureOf } from './failure.ts'
import { type OpenedStream, PartStream } from './part-stream.ts'
import type { AiSdkPart } from './reply-parts.ts'

export interface FromAiSdkOptions {
  /** Default: the first word of the model's provider and the model's own id, `openai/gpt-5-mini`. */
  readonly id?: string
  readonly abilities?: readonly ModelAbility[]
  readonly contextTokens?: number
  readonly costOf?: (usage: Usage) => number | undefined
  /** What helps with this provider: which variable holds the key, where its server is. */
  readonly remedies?: { readonly auth?: string; readonly network?: string; readonly baseUrl?: string }
  /** How cache marks, schema mode and reasoning are asked for. Default: by the name of the model's provider. */
  readonly dialect?: Dialect
  /** A server of the dialect `openai-compatible` that has a schema mode. */
  readonly schemaMode?: boolean
  /** Keys that must not stand in any message. */
  readonly secrets?: readonly string[]
  /** The wall time in milliseconds, for servers that say until when to wait. */
  readonly now?: () => number
}

const allAbilities: readonly ModelAbility[] = ['tools', 'images', 'files', 'reasoning', 'json_schema']

/**
 * Any language model of the AI SDK as a model of ours: `fromAiSdk(openai('gpt-5-mini'))`. Only its `doStream` is used;
 * steps, retries and tools stay with the runtime.
 */
export function fromAiSdk(model: AiSdkModel, options: FromAiSdkOptions = {}): Model {
  const rules = callRules(model, options)
  const failures = failureRules(model, options)
  return {
    id: options.id ?? `${model.provider.split('.')[0]}/${model.modelId}`,
    abilities: options.abilities ?? allAbilities,
    ...(options.contextTokens !== undefined && { contextTokens: options.contextTokens }),
    ...(options.costOf && { costOf: options.costOf }),
    stream: (request, { signal }) =>
      new PartStream({ open: (cancelled) => open(request, rules, cancelled), failureOf: (error) => failureOf(error, failures) }, signal),
  }
}

function callRules(model: AiSdkModel, { dialect, schemaMode }: FromAiSdkOptions): CallRules {
  const isTold = 'supportsStructuredOutputs' in model && model.supportsStructuredOutputs === true
  return { model, dialect: dialect ?? dialectOf(model), schemaMode: schemaMode ?? isTold }
}

function failureRules(model: AiSdkModel, { remedies, secrets = [], now = Date.now }: FromAiSdkOptions): FailureRules {
  const provider = model.provider.split('.')[0]
  return {
    remedies: {
      auth: remedies?.auth ?? `Check the key of ${provider}.`,
      network: remedies?.network ?? 'Check the network, and whether the server runs.',
      baseUrl: remedies?.baseUrl ?? `Check the base URL of ${provider}.`,
    },
    secrets,
    now,
  }
}

async function open(request: ModelRequest, rules: CallRules, signal: AbortSignal): Promise<OpenedStream> {
  const { options, notices } = await prepareCall(request, rules)
  // Both specifications differ only in what `prepareCall` has taken care of.
  const call = { ...options, abortSignal: signal } as typeof options & LanguageModelV3CallOptions
  const { stream, response } = await rules.model.doStream(call)
  const headers = Object.entries(response?.headers ?? {})
  const contentType = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  return { stream: stream as ReadableStream<AiSdkPart>, contentType, notices }
}
