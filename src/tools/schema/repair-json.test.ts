import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { repairJson } from './repair-json.ts'

const repaired = async (text: string): Promise<unknown> => {
  const mended = await repairJson(text)
  return mended === undefined ? undefined : JSON.parse(mended)
}

describe('repairJson', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    ["{a:'x',}", { a: 'x' }],
    ['{"a":True,"b":None}', { a: true, b: null }],
    ['```json\n{"a":1}\n```', { a: 1 }],
    ['```{"a":1}```', { a: 1 }],
    ['Here you are:\n```json\n{"a": 1}\n```\nDone.', { a: 1 }],
    ['{"a":"has ``` inside"}', { a: 'has ``` inside' }],
    ['```json\n{"a":"```x```"}\n```', { a: '```x```' }],
    ['"{\\"a\\":1}"', { a: 1 }],
    ['{"text":"he said "hello" to me"}', { text: 'he said "hello" to me' }],
  ])('repairs %j', async (text, value) => {
    expect(await repaired(text)).toEqual(value)
  })

  it.each([
    '{"a":"x"',
    '{"a":"x',
    '```json\n{"a":1,',
    '{"path":"/home/ada/proj',
    '{"text":"smile :}',
    "{'a':'it}",
    '{"a": NaN}',
    '',
    '  \n',
    '[1,2]',
    '"text"',
    'null',
    '42',
    'plain words',
    '```\n```',
    '{"a":1}{"b":2}',
    '}{',
  ])('gives up on %j', async (text) => {
    expect(await repaired(text)).toBeUndefined()
  })

  it('answers without a promise once it is loaded', async () => {
    await repairJson('{a:1}')
    expect(repairJson('{a:2}')).toBe('{"a":2}')
  })

  it.each([
    ['too long', `{"a":"${'x'.repeat(1_000_001)}`],
    ['deep', '{"a":'.repeat(150_000)],
    ['brackets', '['.repeat(900_000)],
    ['quotes', `{"a":"${'"'.repeat(900_000)}`],
    ['accents', `{a: ${'´x'.repeat(450_000)}`],
    ['quoted words', `{"a":"${'x" '.repeat(300_000)}`],
  ])('stays quick on pathological text: %s', async (_, text) => {
    const started = performance.now()
    await repairJson(text)
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  it('answers the text of an object or nothing, whatever comes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((text) => text.slice(0, -1)),
        ),
        async (text) => {
          const value = await repaired(text)
          expect(value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value))).toBe(true)
        },
      ),
    )
  })
})
