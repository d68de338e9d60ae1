/** Keeps the process alive while trees are driven: deadlines do not, and a driver may wait for something without a handle. */
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
