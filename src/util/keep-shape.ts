// The engine compiles code for the shapes of the objects that it meets, and throws that code away when the last object
// of a shape is collected. A server that was idle for a moment would begin cold again. A few objects of each kind are
// therefore kept for the life of the process: the first ones, and never more.

const most = 4
const longest = 4_096
const kept = new Map<string, object[]>()
let seen = 0

export function keepShape(kind: string, object: object): void {
  // After a while everything that is going to be common has been met, and looking costs nothing more.
  if (seen > longest) return
  seen++
  const known = kept.get(kind)
  if (known === undefined) kept.set(kind, [object])
  else if (known.length < most) known.push(object)
}
