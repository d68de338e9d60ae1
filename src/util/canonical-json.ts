import type { Json } from '../contracts/index.ts'

/** JSON with sorted keys: equal values give equal texts, however they were written. */
export function canonicalJson(value: Json | undefined): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
