import { describe, expect, it } from 'vitest'
import type { BlobId, Message } from '../../contracts/index.ts'
import { effectLines } from './compaction-texts.ts'
import { type Effects, effectsIn, fitEffects } from './effects.ts'

const called = (...calls: readonly (readonly [id: string, name: string, input: string])[]): Message => ({
  role: 'assistant',
  parts: [{ type: 'text', text: 'So.' }, ...calls.map(([id, name, input]) => ({ type: 'call', id, name, input }) as const)],
})
const came = (...results: readonly (readonly [id: string, ok: boolean, content: string])[]): Message => ({
  role: 'tool',
  results: results.map(([id, ok, content]) => ({ id, name: 'x', ok, content })),
})

describe('the effects of a history', () => {
  it('are its calls that do not only read, with what came of them, a line for each', () => {
    const messages = [
      called(['1', 'look', '{}'], ['2', 'write', '{"a":\n  1}'], ['3', 'send', '{}']),
      came(['1', true, 'seen'], ['2', true, 'written\nin full'], ['3', false, 'no network']),
      called(['4', 'write', `{"long":"${'x'.repeat(500)}"}`]),
    ]
    const lines = effectsIn(messages, (name) => (name === 'look' ? 'read' : 'write'))
    expect(lines).toEqual([
      '- write {"a": 1}: ok, written',
      '- send {}: failed, no network',
      expect.stringMatching(/^- write \{"long":"x{60}…"\} #\w{11}: no result$/),
    ])
    for (const line of lines) expect(line.length).toBeLessThan(300)
  })
})

it('two different calls are never one line, and what a long one was about is kept', () => {
  const patch = (...lines: readonly string[]) => JSON.stringify({ patch: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') })
  const long = 'x'.repeat(400)
  const lines = effectsIn(
    [
      called(
        ['1', 'write', JSON.stringify({ content: `${long}a`, path: 'src/a.ts' })],
        ['2', 'write', JSON.stringify({ content: `${long}b`, path: 'src/a.ts' })],
        ['3', 'patch', patch('*** Update File: src/one.ts', `+${long}`, '*** Add File: src/two.ts', '+y')],
        ['4', 'odd', `${long}1`],
        ['5', 'odd', `${long}2`],
      ),
    ],
    () => 'write',
  )
  expect(new Set(lines).size).toBe(5)
  expect(lines[0]).toMatch(/^- write \{"content":"x{60}…","path":"src\/a\.ts"\} #\w{11}: no result$/)
  expect(lines[2]).toContain('src/one.ts')
  expect(lines[2]).toContain('src/two.ts')
  for (const line of lines) expect(line.length).toBeLessThan(300)
})

describe('a list of effects that is too long', () => {
  function store() {
    const kept: string[] = []
    let moved = 0
    return {
      kept,
      moved: () => moved,
      put: (text: string) => {
        moved += text.split('\n').length
        return `b${kept.push(text) - 1}` as BlobId
      },
      get: (handle: BlobId): string | undefined => kept[Number(handle.slice(1))],
    }
  }

  it('is left alone while there is room', async () => {
    const effects = { bundles: [], lines: ['- a', '- b'] }
    expect(await fitEffects(effects, 100, store())).toBe(effects)
  })

  it('keeps its newest lines, and says where the others are: a few places, all of them, each moved a few times', async () => {
    const blobs = store()
    const count = 4_000
    let effects: Effects = { bundles: [], lines: [] }
    for (let done = 0; done < count; done += 10) {
      const more = Array.from({ length: 10 }, (_, i) => `- write ${done + i}: ok, done`)
      effects = await fitEffects({ ...effects, lines: [...effects.lines, ...more] }, 2_000, blobs)
      expect(effectLines(effects).join('\n').length).toBeLessThan(2_000 + 800)
    }
    const { bundles, lines } = effects
    expect(lines.at(-1)).toBe(`- write ${count - 1}: ok, done`)
    expect(bundles.length).toBeLessThan(10)
    const all = [...bundles.flatMap(({ handle }) => blobs.get(handle)?.split('\n') ?? []), ...lines]
    expect(all).toEqual(Array.from({ length: count }, (_, i) => `- write ${i}: ok, done`))
    expect(bundles.reduce((sum, bundle) => sum + bundle.count, 0)).toBe(count - lines.length)
    expect(effectLines(effects).slice(0, bundles.length)).toEqual(
      bundles.map((bundle) => `- (${bundle.count} earlier calls: read_output {"handle":"${bundle.handle}"} lists them)`),
    )
    expect(blobs.moved()).toBeLessThan(count * 12)
  })

  it('continues if the stored output is gone', async () => {
    const blobs = { ...store(), get: () => undefined }
    let effects: Effects = { bundles: [], lines: [] }
    for (let i = 0; i < 40; i += 1)
      effects = await fitEffects({ ...effects, lines: [...effects.lines, `- write ${i}: ok, done`] }, 300, blobs)
    expect(effects.lines.at(-1)).toBe('- write 39: ok, done')
    expect(effects.bundles.length).toBeGreaterThan(1)
  })

  it('takes no line of a tool for one of its own', async () => {
    const line = '- (7 earlier calls: read_output {"handle":"b9"} lists them)'
    const lines = [line, ...Array.from({ length: 20 }, (_, i) => `- write ${i}: ok, done`)]
    const blobs = store()
    const { bundles } = await fitEffects({ bundles: [], lines }, 200, blobs)
    expect(bundles).toMatchObject([{ handle: 'b0' }])
    expect(blobs.kept[0]).toContain(line)
  })
})
