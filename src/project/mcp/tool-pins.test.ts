import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { PinFile } from './tool-pins.ts'

const definition = { type: 'stdio', command: 'x' } as const
const tool = (name: string, hash: string, description = `${name} ${hash}`) => ({ name, hash, description })

function atFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-pins-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return { folder, pins: new PinFile(folder) }
}
const check = async (pins: PinFile, ...tools: ReturnType<typeof tool>[]) => (await pins.check('srv', tools, definition)).withheld

it('a description that was accepted stays accepted beside a later one', async () => {
  const { pins } = atFolder()
  expect(await check(pins, tool('a', '1'))).toEqual([])
  expect(await check(pins, tool('a', '2'), tool('b', '1'))).toEqual(['a', 'b'])
  expect(await pins.pending('srv', definition)).toEqual([tool('a', '2'), tool('b', '1')])
  await pins.accept('srv', [tool('a', '2')], definition)
  expect(await check(pins, tool('a', '2'))).toEqual([])
  expect(await check(pins, tool('a', '1'), tool('b', '1'))).toEqual(['b'])
  expect(await pins.pending('srv', definition)).toEqual([tool('b', '1')])
  expect(await pins.pending('srv', { ...definition, args: ['other'] })).toEqual([])
})

it('pending descriptions are bounded: the newest stay', async () => {
  const { pins, folder } = atFolder()
  await check(pins, tool('a', '0'))
  for (const hash of ['1', '2', '3', '4']) await check(pins, tool('a', hash))
  expect((await pins.pending('srv', definition)).map(({ hash }) => hash)).toEqual(['4', '3', '2'])
  for (let server = 0; server < 12; server++) {
    const other = { ...definition, args: [String(server)] }
    await pins.check('srv', [], other)
    await pins.check(
      'srv',
      Array.from({ length: 100 }, (_, index) => tool(`t${index}`, '1', 'x'.repeat(8_000))),
      other,
    )
  }
  expect(statSync(join(folder, 'mcp-pending.json')).size).toBeLessThan(1_200_000)
})

it('tools are withheld even if nothing can be written', async () => {
  const { pins, folder } = atFolder()
  await check(pins, tool('a', '1'))
  mkdirSync(join(folder, 'mcp-pending.json'))
  expect(await check(pins, tool('a', '1'), tool('b', '1'))).toEqual(['b'])
})

it('damaged files accept nothing, and lose nothing that was accepted', async () => {
  const { pins, folder } = atFolder()
  await check(pins, tool('a', '1'))
  writeFileSync(join(folder, 'mcp-pending.json'), '{')
  expect(await check(pins, tool('a', '1'), tool('b', '1'))).toEqual(['b'])
  expect(await pins.pending('srv', definition)).toEqual([tool('b', '1')])
  writeFileSync(join(folder, 'mcp-tools.json'), '{')
  expect(await check(pins, tool('a', '1'))).toEqual(['a'])
})
