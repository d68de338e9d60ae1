import { PatchError, type PatchLine } from './patch-types.ts'

export function parseLine(line: string, number: number): PatchLine {
  const [mark] = line
  // An empty line of context whose space got lost.
  if (mark === undefined || line === '\r') return { mark: ' ', text: line }
  if (mark === ' ' || mark === '-' || mark === '+') return { mark, text: line.slice(1) }
  throw new PatchError(
    number,
    `The line "${line.slice(0, 80)}" does not begin with " ", "-" or "+".`,
    'Begin each line with " " (context), "-" (removed) or "+" (added).',
  )
}
