/** For each value: its quotes, comma and key. */
const perValue = 8

/** The length of a value as JSON, roughly. */
export function jsonWeight(value: unknown): number {
  if (typeof value === 'string') return value.length + perValue
  if (typeof value !== 'object' || value === null) return perValue
  let weight = perValue
  for (const inner of Object.values(value)) weight += jsonWeight(inner)
  return weight
}
