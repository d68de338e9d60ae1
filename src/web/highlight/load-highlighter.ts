import { signal } from '@preact/signals'
import type { tokensOf } from './tokens.ts'

/** `undefined` until it is loaded. */
export const highlighter = signal<typeof tokensOf | undefined>(undefined)

let isLoading = false

/** Loads the code that gives colours to code. Without it, code has none. */
export function loadHighlighter(): void {
  if (isLoading) return
  isLoading = true
  import('./tokens.ts').then(
    (module) => {
      highlighter.value = module.tokensOf
    },
    () => {
      isLoading = false
    },
  )
}
