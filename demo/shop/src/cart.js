/** The sum of all items, in cents. */
export function subtotal(items) {
  return items.reduce((sum, { price, quantity }) => sum + price * quantity, 0)
}

/** How many things are in the cart. */
export function count(items) {
  return items.reduce((sum, { quantity }) => sum + quantity, 0)
}
