import { describe, expect, it } from 'vitest'
import type { ModelPart } from '../../contracts/index.ts'
import { type AiSdkPart, ReplyParts } from './reply-parts.ts'

const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined, text: undefined, reasoning: undefined }
const finish = (unified: string): AiSdkPart =>
  ({ type: 'finish', finishReason: { unified, raw: unified }, usage: { inputTokens: none, outputTokens: none } }) as AiSdkPart

function read(parts: readonly AiSdkPart[]): readonly ModelPart[] {
  const reply = new ReplyParts({ contentType: undefined, readFailure: (error) => ({ class: 'model', message: String(error) }) })
  const into: ModelPart[] = []
  for (const part of parts) if (reply.read(part, into) === 'over') return into
  return into
}

describe('the parts of a reply', () => {
  it('say once per block what the provider attached to it (invariant 1)', () => {
    expect(
      read([
        { type: 'reasoning-start', id: 'a', providerMetadata: { acme: { id: 1, seal: null } } },
        { type: 'reasoning-delta', id: 'a', delta: 'Hm', providerMetadata: { acme: { seal: 'x' } } },
        { type: 'reasoning-end', id: 'a', providerMetadata: { acme: { seal: null, more: true }, other: { y: 1 } } },
        { type: 'text-delta', id: 'lone', delta: 'Hi', providerMetadata: { acme: { z: 1 } } },
        finish('stop'),
      ]),
    ).toEqual([
      { type: 'reasoning', text: 'Hm', block: 'reasoning:a' },
      { type: 'reasoning', text: '', block: 'reasoning:a', metadata: { acme: { id: 1, seal: 'x', more: true }, other: { y: 1 } } },
      { type: 'text', text: 'Hi' },
      { type: 'text', text: '', metadata: { acme: { z: 1 } } },
      { type: 'finish', reason: 'stop' },
    ])
  })

  it('join texts that cannot be distinguished', () => {
    const plain = (id: string): AiSdkPart[] => [
      { type: 'text-start', id },
      { type: 'text-delta', id, delta: id },
      { type: 'text-end', id },
    ]
    expect(read([...plain('a'), ...plain('b'), finish('stop')])).toEqual([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
      { type: 'finish', reason: 'stop' },
    ])
  })

  it.each(['stop', 'tool-calls', 'length', 'content-filter', 'error', 'other'])('end with %s as reported (invariant 3)', (reason) => {
    expect(read([finish(reason)])).toEqual([{ type: 'finish', reason }])
  })

  it('end with other for a reason from the future', () => {
    expect(read([finish('toString'), finish('stop')])).toEqual([{ type: 'finish', reason: 'other' }])
  })

  it('do not wait for arguments without an end', () => {
    const delta = { type: 'tool-input-delta', id: 'c', delta: 'x'.repeat(1024 * 1024) } as const
    const parts = read(Array.from({ length: 20 }, () => delta))
    expect(parts).toHaveLength(17)
    expect(parts.at(-1)).toMatchObject({
      type: 'error',
      failure: { class: 'invalid_response', message: 'The arguments of the calls are too long.' },
    })
  })
})
