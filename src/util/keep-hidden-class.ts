/**
 * V8 discards optimized code when the last object of its hidden class is collected. After a garbage collection in an idle process, a
 * step would then cost three times as much (in `bench`). So the first few objects of each kind are kept for the life of the process.
 */
export function keepHiddenClass(kind: string, object: object, other?: object): void {
  // After a while all common kinds are known, and this costs nothing.
  if (seen > maxSeen) return
  seen++
  const known = kept.get(kind)
  if (known === undefined) kept.set(kind, [[object, other]])
  else if (known.length < maxKept) known.push([object, other])
}

const maxKept = 4
const maxSeen = 8_192
const kept = new Map<string, [object, object | undefined][]>()
let seen = 0
