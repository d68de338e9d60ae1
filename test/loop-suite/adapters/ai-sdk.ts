import { APICallError, type LanguageModelV3, type LanguageModelV4, type LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { fromAiSdk } from '../../../src/models/ai-sdk/index.ts'
import { pieces } from '../../wire/wire-reply.ts'
import { finishOf, inputText, type LoopAdapter, type PlayedReply } from '../conversation.ts'
import { refusal, Script } from '../script.ts'

type Version = 'v3' | 'v4'
const seal = 'sealed-by-played'

const adapter = (name: string, version: Version): LoopAdapter => ({
  name,
  seal,
  play(replies, { costOf } = {}) {
    const script = new Script(replies)
    const model = fromAiSdk(languageModel(script, version), costOf && { costOf })
    return { model, requests: script.requests, abandoned: () => script.abandoned }
  },
  messagesIn: (request) => (request as LanguageModelV4CallOptions).prompt.filter(({ role }) => role !== 'system'),
  toolsAreOff: (request) => (request as LanguageModelV4CallOptions).toolChoice?.type === 'none',
})

export const aiSdkV4 = adapter('AI SDK V4 object', 'v4')
export const aiSdkV3 = adapter('AI SDK V3 object', 'v3')

function languageModel(script: Script, version: Version): LanguageModelV3 | LanguageModelV4 {
  const model = {
    specificationVersion: version,
    provider: 'played.chat',
    modelId: 'model',
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('asked without a stream')),
    doStream: async ({ abortSignal, ...options }: LanguageModelV4CallOptions) => {
      const reply = script.take(options)
      const found = refusal(reply)
      if (found)
        throw new APICallError({
          message: `${found.status} refused`,
          url: 'http://played.test',
          requestBodyValues: {},
          statusCode: found.status,
          responseHeaders: found.headers,
        })
      return { stream: streamOf(reply, { script, version, abortSignal }) }
    },
  }
  return model as unknown as LanguageModelV4
}

interface Playing {
  readonly script: Script
  readonly version: Version
  readonly abortSignal: AbortSignal | undefined
}

function streamOf(reply: PlayedReply, { script, version, abortSignal }: Playing): ReadableStream {
  const parts = [{ type: 'stream-start', warnings: [] }, ...wordParts(reply), ...callParts(reply)]
  const { fault } = reply
  return new ReadableStream({
    async start(controller) {
      for (const part of fault === 'cut' ? parts.slice(0, -1) : parts) controller.enqueue(part)
      if (fault === 'silence') {
        await script.silence(abortSignal)
        controller.error(abortSignal?.reason)
        return
      }
      if (fault === undefined) controller.enqueue(finishPart(reply, finishOf(reply)))
      // What was cut ends in V4 with a reason of its own, in V3 with nothing at all.
      else if (version === 'v4') controller.enqueue(finishPart(reply, 'interrupted'))
      controller.close()
    },
  })
}

function wordParts({ reasoning, text }: PlayedReply): readonly object[] {
  const block = (kind: string, words: string, end: object) => [
    { type: `${kind}-start`, id: kind },
    ...pieces(words).map((delta) => ({ type: `${kind}-delta`, id: kind, delta })),
    { type: `${kind}-end`, id: kind, ...end },
  ]
  return [
    ...(reasoning === undefined ? [] : block('reasoning', reasoning, { providerMetadata: { played: { signature: seal } } })),
    ...(text === undefined ? [] : block('text', text, {})),
  ]
}

function callParts({ calls = [] }: PlayedReply): readonly object[] {
  return calls.flatMap((call) => [
    { type: 'tool-input-start', id: call.id, toolName: call.name },
    ...pieces(inputText(call)).map((delta) => ({ type: 'tool-input-delta', id: call.id, delta })),
    { type: 'tool-input-end', id: call.id },
    { type: 'tool-call', toolCallId: call.id, toolName: call.name, input: inputText(call) },
  ])
}

function finishPart({ usage }: PlayedReply, unified: string): object {
  return {
    type: 'finish',
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: {
        total: usage?.input,
        noCache: usage && usage.input - usage.cacheRead - usage.cacheWrite,
        cacheRead: usage?.cacheRead,
        cacheWrite: usage?.cacheWrite,
      },
      outputTokens: { total: usage?.output, text: usage && usage.output - usage.reasoning, reasoning: usage?.reasoning },
    },
  }
}
