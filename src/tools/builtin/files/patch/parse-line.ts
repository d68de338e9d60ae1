import { PatchFault, type PatchLine } from './patch-types.ts'

export function parseLine(line: string, number: number): PatchLine {
  const [mark] = line
  // An empty line of context whose space got lost.
  if (mark === undefined || line === '\r') return { mark: ' ', text: line }
  if (mark === ' ' || mark === '-' || mark === '+') return { mark, text: line.slice(1) }
  throw new PatchFault(
    number,
    `The line "${line.slice(0, 80)}" has no mark.`,
    'Put " " (stays), "-" (goes) or "+" (comes) before every line.',
  )
}
