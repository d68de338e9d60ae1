import { createInterface } from 'node:readline'
import type { Clock } from '../../contracts/index.ts'
import type { Host } from '../host/process-host.ts'

export type NextLine = { readonly kind: 'line'; readonly text: string } | { readonly kind: 'end' } | { readonly kind: 'withdrawn' }

/** The next line that a person types, unless nothing more comes or nobody wants it any more. */
export function nextLine(input: Host['stdin'], withdrawn?: AbortSignal): Promise<NextLine> {
  if (withdrawn?.aborted) return Promise.resolve({ kind: 'withdrawn' })
  if (hasEnded(input)) return Promise.resolve({ kind: 'end' })
  const lines = createInterface({ input, terminal: false })
  return new Promise((resolve) => {
    const leave = (next: NextLine): void => {
      withdrawn?.removeEventListener('abort', withdraw)
      resolve(next)
      lines.close()
      // Whoever waits for nothing more does not keep the process.
      input.pause()
    }
    const withdraw = (): void => leave({ kind: 'withdrawn' })
    withdrawn?.addEventListener('abort', withdraw)
    lines.once('line', (text) => leave({ kind: 'line', text }))
    lines.once('close', () => leave({ kind: 'end' }))
  })
}

/** Whether nothing can come any more. */
export const hasEnded = ({ readableEnded, destroyed }: Host['stdin']): boolean => readableEnded || destroyed

/** What the terminal hands over at once when it is asked. */
const alreadyTypedMs = 20

/** Drops what was typed before: an answer cannot be meant for a question that was not there yet. */
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
    // Whoever has read a line has paused it.
    input.resume()
  })
}
