import assert from 'node:assert/strict'
import { test } from 'node:test'
import { discountRate } from '../src/discount.js'

test('a code has a rate, and an unknown one takes nothing off', () => {
  assert.deepEqual([discountRate('SUMMER10'), discountRate('NOPE')], [0.1, 0])
})
