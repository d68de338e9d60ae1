import type { Problem } from '../../contracts/index.ts'
import type { EndRequest } from '../host/process-host.ts'

/** The command was asked to end and there is no outcome. `code`: who asked. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
  readonly code: EndRequest
  readonly remedy: string | undefined
  readonly problems: readonly Problem[] = []

  constructor(message: string, remedy?: string, code: EndRequest = 'interrupted') {
    super(message)
    this.remedy = remedy
    this.code = code
  }
}
