import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { ResponseEvent } from './response-items.ts'
import { cutText, ResponseStream } from './response-stream.ts'

async function* deltas(pieces: readonly string[]): AsyncGenerator<ResponseEvent> {
  yield { type: 'response.created' }
  for (const delta of pieces) yield { type: 'response.output_text.delta', item_id: 'a', delta }
  yield { type: 'response.output_text.done', item_id: 'a', text: pieces.join('') }
  yield { type: 'response.completed' }
}

async function sent(pieces: readonly string[], after?: number): Promise<readonly ResponseEvent[]> {
  const events: ResponseEvent[] = []
  for await (const event of new ResponseStream(after).numbered(deltas(pieces))) events.push(event)
  return events
}

it('does not depend on the pieces of the model', async () => {
  const piece = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: fc.constantFrom(' ', 'a', '\n', '語', '👍'), maxLength: 300 }))
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 40 }), fc.nat(20), async (pieces, after) => {
      const text = pieces.join('')
      const all = await sent(pieces)
      expect(all).toEqual(await sent([text]))
      expect(all.map(({ sequence_number }) => sequence_number)).toEqual(all.map((_, index) => index))
      expect(all.map(({ delta = '' }) => delta).join('')).toBe(text)
      expect((await sent(pieces, after)).slice(0, -1)).toEqual(all.slice(after + 1, -1))
    }),
  )
})

it('cuts after words, long ones after 32 characters, and later in a text after several', () => {
  expect(cutText('One,  two\n  three fo')).toEqual(['One, ', ' two\n', '  three ', 'fo'])
  expect(cutText(`${'x'.repeat(31)}👍 ${' '.repeat(40)}`)).toEqual([`${'x'.repeat(31)}👍`, ' '.repeat(32), ' '.repeat(9)])
  expect(cutText('a b c d e f g h', 5 * 512)).toEqual(['a b c ', 'd e f ', 'g h'])
  expect(cutText('word '.repeat(200_000)).length).toBeLessThan(10_000)
})

it('sends the last event to a client that has a later number', async () => {
  expect(await sent(['One'], 90)).toEqual([{ type: 'response.completed', sequence_number: 91 }])
})
