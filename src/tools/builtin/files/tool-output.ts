import type { ToolOutput } from '../../../contracts/index.ts'
import { FileError } from '../../workspace/index.ts'

/** Returns a thrown `FileError` as a failure. */
export async function withFileErrors(work: () => Promise<ToolOutput>): Promise<ToolOutput> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FileError) return { ok: false, error: error.failure }
    throw error
  }
}

export const failed = (message: string, remedy?: string): ToolOutput => ({
  ok: false,
  error: { class: 'invalid_input', message, ...(remedy !== undefined && { remedy }) },
})

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new FileError('cancelled', 'The call was stopped.')
}
