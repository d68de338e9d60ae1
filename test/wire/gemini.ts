import { pieces, type WireReply } from './wire-reply.ts'

/**
 * Gemini's `streamGenerateContent?alt=sse`. It has no terminal event, ends its lines with CRLF, counts thoughts apart
 * from the answer, sends a call always whole, and says STOP whether or not there are calls.
 */
export function encodeGemini(reply: WireReply, model = 'gemini-3-flash'): readonly string[] {
  const chunk = (parts: readonly object[], finishReason?: string): string => {
    const candidate = { content: { parts, role: 'model' }, ...(finishReason !== undefined && { finishReason }), index: 0 }
    const counted = finishReason === undefined ? soFar(reply) : usageOf(reply)
    const data = { candidates: [candidate], usageMetadata: counted, modelVersion: model, responseId: 'mPRWad-x' }
    return `data: ${JSON.stringify(data)}\r\n\r\n`
  }
  const calls = (reply.calls ?? []).map(({ id, name, input }, index) => ({
    functionCall: { name, args: input, id },
    // Only the first call of a step is signed.
    ...(index === 0 && { thoughtSignature: 'CiQB-sealed' }),
  }))
  return [
    ...pieces(reply.reasoning ?? '').map((text) => chunk([{ text, thought: true }])),
    ...pieces(reply.text ?? '').map((text) => chunk([{ text }])),
    ...calls.map((call) => chunk([call])),
    chunk([{ text: '' }], finishReasonOf(reply)),
  ]
}

function finishReasonOf({ finish }: WireReply): string {
  return { stop: 'STOP', 'tool-calls': 'STOP', length: 'MAX_TOKENS', 'content-filter': 'SAFETY' }[finish]
}

function soFar({ usage }: WireReply): object {
  return {
    promptTokenCount: usage.input,
    totalTokenCount: usage.input,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.input }],
  }
}

function usageOf({ usage }: WireReply): object {
  return {
    promptTokenCount: usage.input,
    candidatesTokenCount: usage.output - usage.reasoning,
    totalTokenCount: usage.input + usage.output,
    ...(usage.cacheRead > 0 && { cachedContentTokenCount: usage.cacheRead }),
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.input }],
    thoughtsTokenCount: usage.reasoning,
  }
}
