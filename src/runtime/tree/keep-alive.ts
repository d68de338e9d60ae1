/**
 * Keeps the process alive while trees are driven. Deadlines do not, and what a driver waits for (a person, another process) may have
 * no handle in this process.
 */
let holders = 0
let timer: NodeJS.Timeout | undefined

export function keepAlive(): () => void {
  // One timer for all: a timer for each run would cost as much as starting the run.
  timer ??= setInterval(() => {}, 2_147_483_647)
  if (holders++ === 0) timer.ref()
  let isHeld = true
  return () => {
    if (!isHeld) return
    isHeld = false
    if (--holders === 0) timer?.unref()
  }
}
