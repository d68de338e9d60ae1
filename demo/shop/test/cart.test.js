import assert from 'node:assert/strict'
import { test } from 'node:test'
import { count, subtotal } from '../src/cart.js'

const cart = [
  { price: 1250, quantity: 2 },
  { price: 333, quantity: 3 },
]

test('the subtotal is the sum of all items', () => {
  assert.equal(subtotal(cart), 3499)
})

test('the count includes quantities', () => {
  assert.equal(count(cart), 5)
})
