import { createInterface } from 'node:readline'
import type { Clock } from '../../contracts/index.ts'
import type { Host } from './process-host.ts'

export type NextLine = { readonly kind: 'line'; readonly text: string } | { readonly kind: 'end' } | { readonly kind: 'withdrawn' }

/** The next typed line, unless the input ends or the question is withdrawn. */
export function nextLine(input: Host['stdin'], withdrawn?: AbortSignal): Promise<NextLine> {
  if (withdrawn?.aborted) return Promise.resolve({ kind: 'withdrawn' })
  if (hasEnded(input)) return Promise.resolve({ kind: 'end' })
  const lines = createInterface({ input, terminal: false })
  return new Promise((resolve) => {
    const leave = (next: NextLine): void => {
      withdrawn?.removeEventListener('abort', withdraw)
      resolve(next)
      lines.close()
      // An input that is not paused would keep the process alive.
      input.pause()
    }
    const withdraw = (): void => leave({ kind: 'withdrawn' })
    withdrawn?.addEventListener('abort', withdraw)
    lines.once('line', (text) => leave({ kind: 'line', text }))
    lines.once('close', () => leave({ kind: 'end' }))
  })
}

export const hasEnded = ({ readableEnded, destroyed }: Host['stdin']): boolean => readableEnded || destroyed

/** Time in which typed-ahead input arrives. */
const alreadyTypedMs = 20

/** Discards input typed before the question was shown: it cannot be meant as its answer. */
export function discardTyped(input: Host['stdin'], clock: Pick<Clock, 'after'>): Promise<void> {
  if (hasEnded(input)) return Promise.resolve()
  return new Promise((resolve) => {
    const drop = (): void => {}
    const done = (): void => {
      cancel()
      input.off('data', drop)
      input.off('end', done)
      input.pause()
      resolve()
    }
    const cancel = clock.after(alreadyTypedMs, done)
    input.once('end', done)
    input.on('data', drop)
    // `nextLine` pauses the input.
    input.resume()
  })
}
