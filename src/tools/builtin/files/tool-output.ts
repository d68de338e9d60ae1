import type { ToolOutput } from '../../../contracts/index.ts'
import { groupDigits } from '../../../util/group-digits.ts'
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

export const countOf = (count: number, one: string, many = `${one}s`): string => `${groupDigits(count)} ${count === 1 ? one : many}`

const longestShown = 200

export const fitLine = (line: string): string => (line.length <= longestShown ? line : `${line.slice(0, longestShown)}…`)

/** Quotes a name with control characters, such as line ends. */
export const shownPath = (path: string): string => (/\p{Cc}/u.test(path) ? JSON.stringify(path) : path)

export const forbiddenNote = (count: number): readonly string[] =>
  count === 0 ? [] : [`${countOf(count, 'entry', 'entries')} omitted: rules deny reading them.`]

/** For a file that may be changed but not read. */
export const hiddenContentNote = 'Rules deny reading this file, so its content is not shown.'

export const slowPatternNote = 'Some patterns of .gitignore or of this call take too long to match and were not applied to all entries.'
