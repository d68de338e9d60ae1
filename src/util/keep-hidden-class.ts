/**
 * The engine compiles code for the shapes of the objects that it meets, and throws that code away when the last object
 * of a shape is collected. A process that was idle while its memory was cleaned up would begin cold again: in `bench`,
 * a step then costs three times as much. So the first few objects of each kind are kept for the life of the process,
 * and never more: a handful of small, finished sessions.
 */
export function keepHiddenClass(kind: string, object: object, other?: object): void {
  // After a while everything that is going to be common has been met, and looking costs nothing more.
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
