import assert from 'node:assert/strict'
import { test } from 'node:test'
import { total } from '../src/checkout.js'

test('a cart without a code costs its subtotal', () => {
  assert.equal(total([{ price: 1250, quantity: 2 }]), 2500)
})

test('a code takes its share off', () => {
  assert.equal(total([{ price: 2000, quantity: 1 }], 'STAFF25'), 1500)
})

test('a discount is rounded once, on the whole cart', () => {
  assert.equal(total([{ price: 333, quantity: 3 }], 'SUMMER10'), 899)
})
