import { describe, expect, test } from 'vitest'
import type { Tool } from '../contracts/index.ts'
import { toolContract } from './tool-contract.ts'

const divide: Tool = {
  name: 'divide',
  description: 'Divides a by b.',
  inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } },
  effect: 'read',
  execute: ({ a, b }) => (b === 0 ? { ok: false, error: { class: 'invalid_input', message: 'b is 0' } } : String(Number(a) / Number(b))),
}
const examples = { good: { a: 6, b: 3 }, bad: { a: 6, b: 0 } }

describe('a good tool keeps it', () => {
  for (const { name, run } of toolContract(divide, examples)) test(name, run)
})

describe('a breach is found', () => {
  const breaches: readonly [name: string, breach: Partial<Tool>, found: RegExp][] = [
    ['has a name that models accept', { name: 'a b' }, /match/],
    ['says what it is for', { description: ' ' }, /./],
    ['takes an object', { inputSchema: { type: 'string' } }, /object/],
    ['gives an output for the good example', { execute: (() => 7) as never }, /neither text nor an output: 7/],
    [
      'gives an output for the good example',
      { execute: () => ({ ok: false, error: { class: 'failed', message: 'no' } }) },
      /good example failed/,
    ],
    ['ends soon when its signal has aborted before it starts', { execute: () => new Promise(() => {}) }, /still runs 20 ms/],
    ['ends soon when its signal aborts on the way', { execute: () => new Promise(() => {}) }, /still runs 20 ms/],
    ['returns an expected failure instead of throwing it', { execute: () => Promise.reject(new Error('b is 0')) }, /b is 0/],
    ['returns an expected failure instead of throwing it', { execute: () => 'fine' }, /the bad example succeeded/],
  ]
  test.each(breaches)('%s', async (name, breach, found) => {
    const checked = toolContract({ ...divide, ...breach }, { ...examples, graceMs: 20 }).find((one) => one.name === name)
    await expect(checked?.run()).rejects.toThrow(found)
  })
})
