import type { Json } from '../contracts/index.ts'

/** Whether two values are the same, whatever the order of their keys. */
export function isSameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [a, b] = [one, other] as { readonly [key: string]: Json }[]
  const keys = Object.keys(one)
  return keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key) && isSameJson(a?.[key], b?.[key]))
}
