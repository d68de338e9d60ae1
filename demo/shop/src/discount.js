const rates = { SUMMER10: 0.1, STAFF25: 0.25 }

/** The share that a code takes off, 0 for an unknown one. */
export function discountRate(code) {
  return rates[code] ?? 0
}
