import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactor } from './redact.ts'

const { veil, text } = redactor({ API_KEY: 'sk-abcabcab-123', TOKEN: 'aaaaaab' })

describe('a veil', () => {
  it('hides a secret that comes in pieces, and holds back no more than may be its beginning', () => {
    const shown = veil()
    expect(shown?.push('use sk-abc')).toBe('use ')
    expect(shown?.push('abcab-12')).toBe('')
    expect(shown?.push('3 now')).toBe('[redacted:API_KEY] now')
    expect(shown?.push('sk-')).toBe('')
    expect(shown?.end()).toBe('sk-')
  })

  it('shows the same as hiding it whole, however it is cut', () => {
    const piece = fc.constantFrom('sk-abc', 'abcab-', '123', 'a', 'aa', 'aaaaaab', 'b', ' x ', 'sk-abcabcab-123', 'c2st')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const shown = veil()
        const parts = pieces.map((each) => shown?.push(each) ?? '')
        expect([...parts, shown?.end() ?? ''].join('')).toBe(text(pieces.join('')))
      }),
      { numRuns: 2_000 },
    )
  })

  it('is none where there is nothing to hide', () => expect(redactor({ HOME: '/x' }).veil()).toBeUndefined())
})
