import { subtotal } from './cart.js'
import { discountRate } from './discount.js'

/** The amount to pay for a cart, in cents. */
export function total(items, code) {
  const rate = discountRate(code)
  const discounts = items.map(({ price, quantity }) => Math.ceil(price * rate) * quantity)
  return subtotal(items) - discounts.reduce((sum, each) => sum + each, 0)
}
