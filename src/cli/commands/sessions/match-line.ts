import type { SearchMatch } from '../../../contracts/index.ts'
import type { Paint } from '../../terminal/paint.ts'
import { printable } from '../../terminal/printable.ts'

/** `answer: … fly to Oslo on Friday …` in one line, with its matches marked. Pure. */
export function matchLine({ kind, snippet, ranges }: SearchMatch, paint: Paint): string {
  const pieces: string[] = []
  let end = 0
  for (const [from, to] of ranges) {
    pieces.push(inner(snippet.slice(end, from)), paint('yellow', inner(snippet.slice(from, to))))
    end = to
  }
  return `${paint('dim', `${kind}:`)} ${[...pieces, inner(snippet.slice(end))].join('').trim()}`
}

/** Spaces at the edges of a piece stay. */
const inner = (piece: string): string => printable(`|${piece}|`).slice(1, -1)
