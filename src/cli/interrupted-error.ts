import type { Problem } from '../contracts/index.ts'

/** Somebody asked to end, and there is no outcome of a run that could tell it. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
  readonly code = 'interrupted'
  readonly remedy: string | undefined
  readonly problems: readonly Problem[] = []

  constructor(message: string, remedy?: string) {
    super(message)
    this.remedy = remedy
  }
}
