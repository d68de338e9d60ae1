import { useState } from 'preact/hooks'
import { exactText } from '../../util/exact-text.ts'
import { size } from '../../view/index.ts'
import { cutText } from './cut-text.ts'

/** A page stays fast with so many more characters. */
const chunk = 200_000

interface LongTextProps {
  readonly text: string
  /** At most so much at first. */
  readonly lines?: number
  readonly characters?: number
  /** So many more on request. */
  readonly more?: number
  /** Shows invisible characters by their code. */
  readonly isExact?: boolean
}

/** A text as it is. A long one is cut, and shows more on request. */
export function LongText({ text, lines = Number.POSITIVE_INFINITY, characters = chunk, more = chunk, isExact = false }: LongTextProps) {
  const [shown, setShown] = useState(0)
  const visible = shown === 0 ? cutText(text, { lines, characters }) : cutText(text, { lines: Number.POSITIVE_INFINITY, characters: shown })
  const rest = text.length - visible.length
  return (
    <>
      <span class="long-text">{isExact ? exactText(visible) : visible}</span>
      {(rest > 0 || shown > 0) && (
        <span class="long-more">
          {rest > 0 && (
            <button type="button" class="link-button small" onClick={() => setShown(Math.max(shown, visible.length) + more)}>
              {rest > more ? `Show more (${size(rest)} left)` : 'Show all'}
            </button>
          )}
          {shown > 0 && (
            <button type="button" class="link-button small" onClick={() => setShown(0)}>
              Show less
            </button>
          )}
        </span>
      )}
    </>
  )
}
