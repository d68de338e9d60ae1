import type { Clock, InteractionEvent, Outcome } from '../../../contracts/index.ts'
import { type RunHandle, systemClock } from '../../../runtime/index.ts'
import { type Display, type OpenDisplayOptions, openDisplay } from '../../progress/display.ts'
import { graceMs, type Interruption } from '../../terminal/interruption.ts'
import type { RunApprover } from '../asking/terminal-approver.ts'

interface Watching extends Omit<OpenDisplayOptions, 'clock' | 'questions'> {
  readonly interruption: Pick<Interruption, 'signal' | 'request' | 'reporting'>
  /** Stops the run and leaves its turn open. */
  readonly release: () => Promise<void>
  /** Default: the system clock. */
  readonly clock?: Clock
  /** Receives every event, and may use the terminal to ask. */
  readonly approver?: Pick<RunApprover, 'attach' | 'onEvent' | 'shows'>
  /** The earlier events of a resumed session. */
  readonly past?: readonly InteractionEvent[]
}

export interface Followed {
  /** The durable events, including earlier ones. */
  readonly events: readonly InteractionEvent[]
  /** How many of them are earlier ones. */
  readonly past: number
  /** `undefined` if the run did not stop in time. */
  readonly outcome: Outcome | undefined
}

/** How long a release may take. The grace period of calls is shorter. */
const releaseMs = 10_000

/** Shows the progress of a run until it ends. Ctrl-C ends its turn; other requests release it. */
export async function followRun(handle: RunHandle, watching: Watching): Promise<Followed> {
  const { interruption, release, clock = systemClock, approver, past = [], ...showing } = watching
  const { signal } = interruption
  const display = openDisplay({ ...showing, clock, questions: approver?.shows === 'questions' ? 'elsewhere' : 'here' })
  approver?.attach(display)
  const events: InteractionEvent[] = [...past]
  display.recall(past)
  for (const event of past) approver?.onEvent(event)
  const overdue = Promise.withResolvers<undefined>()
  let cancelTimer = (): void => {}

  const interrupt = (): void => {
    const isInterrupt = interruption.request === 'interrupted'
    cancelTimer = clock.after(isInterrupt ? graceMs : releaseMs, () => overdue.resolve(undefined))
    // If the store fails, the timer ends the wait.
    ;(isInterrupt ? handle.interrupt() : release()).catch(() => {})
    if (isInterrupt) display.interrupting()
  }
  if (signal.aborted) interrupt()
  else signal.addEventListener('abort', interrupt)
  let outcome: Outcome | undefined
  try {
    outcome = await Promise.race([watch(handle, events, { display, approver }).then(() => handle.outcome), overdue.promise])
    return { events, past: past.length, outcome }
  } finally {
    cancelTimer()
    signal.removeEventListener('abort', interrupt)
    interruption.reporting()
    display.close(outcome ? 'erase' : 'keep')
  }
}

interface Watchers {
  readonly display: Display
  readonly approver: Watching['approver']
}

async function watch(handle: RunHandle, events: InteractionEvent[], { display, approver }: Watchers): Promise<void> {
  for await (const event of handle) {
    approver?.onEvent(event)
    if ('seq' in event) events.push(event)
    const shown = display.show(event)
    if (shown) await shown
  }
}
