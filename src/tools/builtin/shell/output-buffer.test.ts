import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { OutputBuffer } from './output-buffer.ts'

describe('kept output', () => {
  it('is all of it while it is small, else its beginning and its end, whatever the pieces (invariants 1 and 2)', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 }), fc.integer({ min: 1, max: 50 }), (pieces, most) => {
        const kept = new OutputBuffer(most)
        for (const piece of pieces) kept.add(Buffer.from(piece))
        const all = Buffer.concat(pieces)
        expect(kept.total).toBe(all.length)
        expect(kept.leftOut).toBe(Math.max(0, all.length - 2 * most))
        expect(kept.head()).toEqual(all.subarray(0, most))
        expect(kept.tail()).toEqual(all.length <= most ? Buffer.alloc(0) : all.subarray(Math.max(most, all.length - most)))
      }),
    )
  })
})
