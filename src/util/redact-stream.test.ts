import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { redactor } from './redact.ts'

const { stream, text } = redactor({ API_KEY: 'sk-abcabcab-123', TOKEN: 'aaaaaab' })

describe('a veil', () => {
  it('hides a secret that comes in pieces, and holds back no more than may be its beginning', () => {
    const shown = stream()
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
        const shown = stream()
        const parts = pieces.map((each) => shown?.push(each) ?? '')
        expect([...parts, shown?.end() ?? ''].join('')).toBe(text(pieces.join('')))
      }),
      { numRuns: 2_000 },
    )
  })

  it('does not cut a secret in two that ends as it begins', () => {
    const secrets = redactor({ API_KEY: 'sk-topsecret-value-s', TOKEN: 'abcabcXabcabc' })
    const shown = secrets.stream()
    expect([shown?.push('key: sk-topsecret-value-s'), shown?.push('\n'), shown?.end()].join('')).toBe('key: [redacted:API_KEY]\n')
    const piece = fc.constantFrom('sk-topsecret-value-s', 'k-topsecret-value-s', 's', 'abcabcXabcabc', 'Xabcabc', 'abc', 'X', ' ')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.integer({ min: 1, max: 9 }), (pieces, size) => {
        const whole = pieces.join('')
        const veiled = secrets.stream()
        const parts = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) => veiled?.push(whole.slice(i * size, (i + 1) * size)))
        const told = [...parts, veiled?.end()].join('')
        for (const secret of ['sk-topsecret-value-s', 'abcabcXabcabc']) expect(told).not.toContain(secret.slice(0, -1))
        if (whole.length < 100) expect(told).toBe(secrets.text(whole))
      }),
      { numRuns: 2_000 },
    )
  })
})
