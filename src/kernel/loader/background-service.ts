import type { Clock, ServiceProvider } from '../../contracts/index.ts'
import { pause } from '../shared/background-work.ts'

const firstDelayMs = 1_000
const maxDelayMs = 60_000

interface ServiceOptions {
  readonly clock: Clock
  run(signal: AbortSignal): ReturnType<ServiceProvider['runBackground']>
  /** A rejection. It is started again after the delay. */
  onFailure(error: unknown, delayMs: number): void
}

/** Runs a service until it resolves or is stopped. Returns a function that stops it and resolves when it has ended. */
export function superviseService({ clock, run, onFailure }: ServiceOptions): () => Promise<void> {
  const controller = new AbortController()
  const { signal } = controller
  const loop = async (): Promise<void> => {
    for (let delay = firstDelayMs; ; ) {
      const startedAt = clock.monotonic()
      try {
        return await run(signal)
      } catch (error) {
        if (signal.aborted) return
        if (clock.monotonic() - startedAt > maxDelayMs) delay = firstDelayMs
        onFailure(error, delay)
        await pause({ clock, ms: delay, signal })
        if (signal.aborted) return
        delay = Math.min(delay * 2, maxDelayMs)
      }
    }
  }
  const ended = loop()
  return () => {
    controller.abort(new Error('the extension stops'))
    return ended
  }
}
