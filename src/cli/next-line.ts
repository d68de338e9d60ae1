import { createInterface } from 'node:readline'
import type { Host } from './host.ts'

export type NextLine = { readonly kind: 'line'; readonly text: string } | { readonly kind: 'end' } | { readonly kind: 'withdrawn' }

/** The next line that a person types, unless nothing more comes or nobody wants it any more. */
export function nextLine(input: Host['stdin'], withdrawn?: AbortSignal): Promise<NextLine> {
  if (withdrawn?.aborted) return Promise.resolve({ kind: 'withdrawn' })
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
