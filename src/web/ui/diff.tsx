import { useState } from 'preact/hooks'
import { grouped } from '../../view/index.ts'
import { LongText } from '../markdown/long-text.tsx'
import { usePage } from '../state/page.ts'
import { type DiffRow, diffRows } from './diff-rows.ts'

const firstRows = 400
/** A longer one may not fit. */
const longLine = 60

/** A `git diff` with coloured lines. Long ones open in steps. */
export function Diff({ diff }: { readonly diff: string }) {
  const [limit, setLimit] = useState(firstRows)
  const rows = diffRows(diff)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a group of lines, not of controls
    <div class="diff" role="group" aria-label="Changes" tabIndex={0}>
      {rows.some(({ text }) => text.length > longLine) && <WrapButton />}
      <div class="diff-rows">
        {rows.slice(0, limit).map((row, index) => (
          <Row key={index} {...row} />
        ))}
      </div>
      {rows.length > limit && (
        <button type="button" class="diff-more" onClick={() => setLimit(limit * 5)}>
          Show more of {grouped(rows.length)} lines
        </button>
      )}
    </div>
  )
}

/** Whether long lines of code and changes wrap. */
function WrapButton() {
  const { settings, set } = usePage()
  const { wrapsLines } = settings.value
  return (
    <button type="button" class="md-copy diff-wrap" aria-pressed={wrapsLines} onClick={() => set({ wrapsLines: !wrapsLines })}>
      Wrap
    </button>
  )
}

function Row({ kind, text, line }: DiffRow) {
  return (
    <div class={`diff-row diff-${kind}`}>
      <span class="diff-line" aria-hidden="true">
        {line}
      </span>
      <span class="diff-text">
        <LongText text={text} characters={2_000} isExact />
      </span>
    </div>
  )
}
