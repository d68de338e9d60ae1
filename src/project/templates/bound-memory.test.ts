import { expect, test } from 'vitest'
import { boundMemory, webAssembly } from './bound-memory.ts'

/** A module with one memory of one page, which it exports. */
const module = Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 5, 3, 1, 0, 1, 7, 10, 1, 6, 109, 101, 109, 111, 114, 121, 2, 0])

test('the memory grows to its bound and no further', async () => {
  const free = new webAssembly.Instance(await webAssembly.compile(module), {}).exports.memory
  expect(free.grow(1000)).toBe(1)
  const bound = new webAssembly.Instance(await webAssembly.compile(boundMemory(module, 300)), {}).exports.memory
  expect(bound.grow(299)).toBe(1)
  expect(() => bound.grow(1)).toThrow(RangeError)
})

test('what has no memory is refused', () => {
  expect(() => boundMemory(module.slice(0, 8), 1)).toThrow('no memory')
  expect(() => boundMemory(Uint8Array.from([...module.slice(0, 8), 1, 255]), 1)).toThrow('cut')
})
