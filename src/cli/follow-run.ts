import type { InteractionEvent, Outcome, StreamEvent } from '../contracts/index.ts'
import type { RunHandle } from '../runtime/index.ts'
import { exitCodes } from './exit-codes.ts'
import type { Host } from './host.ts'
import { PlainProgress } from './plain-progress.ts'

export interface Watching {
  readonly host: Host
  readonly isQuiet: boolean
  /** Sees every event, in order. */
  onEvent?(event: StreamEvent): Promise<void>
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
  const { host } = watching
  const events: InteractionEvent[] = []
  const overdue = Promise.withResolvers<undefined>()
  let interruptedAt: number | undefined
  let timer: NodeJS.Timeout | undefined

  const interrupt = (): void => {
    timer ??= setTimeout(() => overdue.resolve(undefined), graceMs)
    // Where the store fails there is nobody to tell; the timer ends the wait.
    handle.interrupt().catch(() => {})
  }
  const stopListening = host.onInterrupt(() => {
    const now = performance.now()
    if (interruptedAt === undefined) {
      interruptedAt = now
      interrupt()
    } else if (now - interruptedAt > echoMs) host.exit(exitCodes.interrupted.code)
  })
  try {
    const watched = watch(handle, events, watching)
    const outcome = await Promise.race([watched.then(() => handle.outcome), overdue.promise])
    return { events, outcome }
  } finally {
    clearTimeout(timer)
    stopListening()
  }
}

async function watch(handle: RunHandle, events: InteractionEvent[], { host, isQuiet, onEvent }: Watching): Promise<void> {
  const progress = new PlainProgress(host.paint)
  for await (const event of handle) {
    if ('seq' in event) events.push(event)
    if (!isQuiet) await host.stderr.lines(progress.lines(event))
    await onEvent?.(event)
  }
}
