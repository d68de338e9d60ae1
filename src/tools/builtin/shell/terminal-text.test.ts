import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LiveText, plainText } from './terminal-text.ts'

const esc = '\u001b'

describe('text for a terminal', () => {
  it.each([
    ['colours', `${esc}[1;31mred${esc}[0m`, 'red'],
    ['titles and links', `${esc}]0;title\u0007a${esc}]8;;http://x${esc}\\b`, 'ab'],
    ['moves and modes', `${esc}[2J${esc}[?25la${esc}(Bb${esc}7c`, 'abc'],
    ['eight-bit controls', '\u009b31mred', 'red'],
    ['bold by striking over', 'N\u0008NA\u0008A', 'NA'],
    ['progress', 'one\rtwo\rthree\nfour\r\n', 'three\nfour\n'],
    ['a bell and zero bytes', 'a\u0007b\0c', 'abc'],
    ['tabs and line ends', 'a\tb\n', 'a\tb\n'],
  ])('loses %s', (_, text, plain) => {
    expect(plainText(text)).toBe(plain)
  })

  it('shows no control at all, however it is torn apart, and never tears a letter', () => {
    const piece = fc.oneof(
      fc.constantFrom(`${esc}[31m`, `${esc}]0;t\u0007`, `${esc}]8;;u${esc}\\`, 'ä', '😀', '\r\n', 'x', '\n'),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(piece), fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(''))
        const live = new LiveText()
        let shown = ''
        for (let place = 0, turn = 0; place < bytes.length; turn++) {
          const end = place + (cuts[turn % cuts.length] ?? 1)
          shown += live.add(bytes.subarray(place, end))
          place = end
        }
        shown += live.end()
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        expect(shown).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
      }),
    )
  })

  it('takes no longer than its length asks for, whatever is in it', () => {
    const size = 300_000
    const begun = performance.now()
    for (const unit of ['x', '\r', `x\r`, esc, `${esc}[`, `${esc}]`, `${esc}[0`, '\u0008', 'x\u0008', '\u009b', '\n'])
      plainText(`${unit.repeat(size / unit.length)}x`)
    expect(performance.now() - begun).toBeLessThan(20_000)
  })

  it('is the same in pieces as at once', () => {
    const text = `a${esc}[31mäb${esc}]8;;http://x${esc}\\c${esc}]0;t\u0007😀\r\nd`
    const bytes = Buffer.from(text)
    const live = new LiveText()
    let shown = ''
    for (const byte of bytes) shown += live.add(Uint8Array.of(byte))
    expect(shown + live.end()).toBe('aäbc😀\nd')
  })
})
