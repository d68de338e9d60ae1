import type { Clock, InteractionEvent, Outcome, StreamEvent } from '../contracts/index.ts'
import { type RunHandle, systemClock } from '../runtime/index.ts'
import { exitCodes } from './exit-codes.ts'
import type { Host } from './host.ts'
import { type Display, openDisplay } from './live/display.ts'
import type { Progress } from './live/progress.ts'
import type { Terminal } from './live/terminal.ts'

export interface Watching {
  readonly host: Host
  /** How it is shown; see `progressFor`. */
  readonly progress: Progress
  /** Sees every event, in order. */
  onEvent?(event: StreamEvent): Promise<void>
  /** Default: the clock of the system, and the window of this process. */
  readonly clock?: Clock
  readonly terminal?: Terminal
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
export async function followRun(handle: RunHandle, watching: Watching): Promise<Followed> {
  const { host, progress, clock = systemClock } = watching
  const display = openDisplay(progress, { ...watching, clock })
  const events: InteractionEvent[] = []
  const overdue = Promise.withResolvers<undefined>()
  let interruptedAt: number | undefined
  let timer: NodeJS.Timeout | undefined

  const interrupt = (): void => {
    timer ??= setTimeout(() => overdue.resolve(undefined), graceMs)
    // Where the store fails there is nobody to tell; the timer ends the wait.
    handle.interrupt().catch(() => {})
    display.interrupting()
  }
  const stopListening = host.onInterrupt(() => {
    const now = performance.now()
    if (interruptedAt === undefined) {
      interruptedAt = now
      interrupt()
    } else if (now - interruptedAt > echoMs) host.exit(exitCodes.interrupted.code)
  })
  let outcome: Outcome | undefined
  try {
    const watched = watch(handle, { events, display, watching })
    outcome = await Promise.race([watched.then(() => handle.outcome), overdue.promise])
    return { events, outcome }
  } finally {
    clearTimeout(timer)
    stopListening()
    display.close(outcome ? 'erase' : 'keep')
  }
}

interface Watched {
  readonly events: InteractionEvent[]
  readonly display: Display
  readonly watching: Watching
}

async function watch(handle: RunHandle, { events, display, watching }: Watched): Promise<void> {
  for await (const event of handle) {
    if ('seq' in event) events.push(event)
    const shown = display.show(event)
    if (shown) await shown
    await watching.onEvent?.(event)
  }
}
