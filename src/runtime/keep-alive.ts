/**
 * Keeps the process alive while trees are driven. Deadlines do not: nearly all of them are cancelled, and whatever a
 * driver waits for (a person, another process) may have no handle of its own.
 */
let holders = 0
let timer: NodeJS.Timeout | undefined

export function keepAlive(): () => void {
  holders++
  timer ??= setInterval(() => {}, 2_147_483_647)
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    if (--holders > 0) return
    clearInterval(timer)
    timer = undefined
  }
}
