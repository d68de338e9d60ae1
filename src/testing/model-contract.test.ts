import { describe, expect, test } from 'vitest'
import type { Model, ModelPart } from '../contracts/index.ts'
import { modelContract } from './model-contract.ts'

const says = (parts: readonly ModelPart[], id = 'some/model'): Model => ({
  id,
  abilities: [],
  async *stream() {
    yield* parts
  },
})
const stop: ModelPart = { type: 'finish', reason: 'stop' }
const failed: ModelPart = { type: 'error', failure: { class: 'network', message: 'gone' } }
const call = (input: string, id = 'a'): ModelPart => ({ type: 'call', id, name: 'look', input })

describe('a breach is found', () => {
  const breaches: readonly [name: string, model: Model, found: RegExp][] = [
    ['is named after provider and model', says([], 'model'), /match/],
    ['ends a reply with exactly one finish', says([{ type: 'text', text: 'a' }]), /exactly one finish/],
    ['ends a reply with exactly one finish', says([{ type: 'text', text: 'a' }, stop, stop]), /exactly one finish/],
    ['ends a reply with exactly one finish', says([stop, { type: 'text', text: 'a' }]), /after the end/],
    ['sends whole calls under ids of their own', says([call('{"a":'), stop]), /JSON/],
    ['sends whole calls under ids of their own', says([call('[]'), stop]), /not an object/],
    ['sends whole calls under ids of their own', says([call('{}'), call('{}'), stop]), /share an id/],
    ['yields a failure of the provider instead of throwing it', says([failed, stop]), /exactly one error/],
    [
      'ends when the signal aborts while the provider is silent',
      { id: 'some/model', abilities: [], stream: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }) },
      /still going/,
    ],
  ]
  test.each(breaches)('%s', async (name, model, found) => {
    const checked = modelContract(() => model).find((one) => one.name === name)
    await expect(checked?.run()).rejects.toThrow(found)
  })
})
