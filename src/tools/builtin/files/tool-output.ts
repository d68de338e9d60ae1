import type { ToolOutput } from '../../../contracts/index.ts'
import { FileError } from '../../workspace/index.ts'

/** The edge of a file tool: what ended the work early becomes what it returns. */
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

/** Nothing has been changed where this is thrown. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new FileError('cancelled', 'The call was stopped.')
}
