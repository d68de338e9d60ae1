import type { Clock, InteractionEvent, Outcome } from '../contracts/index.ts'
import { type RunHandle, systemClock } from '../runtime/index.ts'
import { exitCodes } from './exit-codes.ts'
import { type Display, openDisplay, type Showing } from './progress/display.ts'

interface Watching extends Omit<Showing, 'clock'> {
  /** Default: the clock of the system. */
  readonly clock?: Clock
}

export interface Followed {
  /** The durable events. */
  readonly events: readonly InteractionEvent[]
  /** `undefined` where the run was interrupted and did not end in time. */
  readonly outcome: Outcome | undefined
}

/** After an interrupt the run has this long to end; the process must be gone within two seconds. */
const graceMs = 1500
/** A launcher such as npm passes on a Ctrl-C that the terminal has sent us as well: that is one wish, not two. */
const echoMs = 50

/** Shows a run while it goes on. The first interrupt ends the run, the second the process. */
export async function followRun(handle: RunHandle, { clock = systemClock, ...watching }: Watching): Promise<Followed> {
  const { host } = watching
  const display = openDisplay({ ...watching, clock })
  const events: InteractionEvent[] = []
  const overdue = Promise.withResolvers<undefined>()
  let interrupted: { readonly at: number; readonly cancelTimer: () => void } | undefined

  const stopListening = host.onInterrupt(() => {
    const now = clock.monotonic()
    if (interrupted) {
      if (now - interrupted.at > echoMs) host.exit(exitCodes.interrupted.code)
      return
    }
    interrupted = { at: now, cancelTimer: clock.after(graceMs, () => overdue.resolve(undefined)) }
    // Where the store fails there is nobody to tell; the timer ends the wait.
    handle.interrupt().catch(() => {})
    display.interrupting()
  })
  let outcome: Outcome | undefined
  try {
    outcome = await Promise.race([watch(handle, events, display).then(() => handle.outcome), overdue.promise])
    return { events, outcome }
  } finally {
    interrupted?.cancelTimer()
    stopListening()
    display.close(outcome ? 'erase' : 'keep')
  }
}

async function watch(handle: RunHandle, events: InteractionEvent[], display: Display): Promise<void> {
  for await (const event of handle) {
    if ('seq' in event) events.push(event)
    const shown = display.show(event)
    if (shown) await shown
  }
}
