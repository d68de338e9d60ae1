/**
 * The engine compiles code for the shapes of the objects that it meets, and throws that code away when the last object
 * of a shape is collected. A process that was idle while its memory was cleaned up would begin cold again: in `bench`,
 * a step then costs three times as much. So the first few objects of each kind are kept for the life of the process,
 * and never more; that is a handful of finished sessions.
 */
export function keepShape(kind: string, object: object): void {
  // After a while everything that is going to be common has been met, and looking costs nothing more.
  if (seen > longest) return
  seen++
  const known = kept.get(kind)
  if (known === undefined) kept.set(kind, [object])
  else if (known.length < most) known.push(object)
}

const most = 4
const longest = 4_096
const kept = new Map<string, object[]>()
let seen = 0
