// All texts of the page share the time for formatting. Half of the time is free for everything else, however much there is to format.

/** So much without a pause: less than a person notices. */
const burstMs = 40
let spentMs = 0
let last = 0

function spent(): number {
  const now = performance.now()
  spentMs = Math.max(0, spentMs - (now - last) / 2)
  last = now
  return spentMs
}

export const hasTime = (): boolean => spent() < burstMs

export function timed<Value>(work: () => Value): Value {
  spent()
  const began = performance.now()
  const value = work()
  last = performance.now()
  spentMs += last - began
  return value
}

/** Calls back when there may be time again. Returns what cancels it. */
export function whenTime(callback: () => void): () => void {
  const timer = setTimeout(callback, 16 + Math.max(0, spent() - burstMs) * 2)
  return () => clearTimeout(timer)
}
