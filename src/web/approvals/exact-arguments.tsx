import type { Json, JsonObject } from '../../contracts/index.ts'
import { exactText } from '../../util/exact-text.ts'
import { LongText } from '../markdown/long-text.tsx'

/** The arguments of a call, complete: a text of several lines as it is, everything else as JSON. Long ones scroll, and very long ones show more on request. */
export function ExactArguments({ input }: { readonly input: JsonObject }) {
  const all = Object.entries(input)
  if (all.length === 0) return <p class="muted small">No arguments</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a group of values, not of controls
    <div class="approval-arguments callout" role="group" aria-label="Arguments" tabIndex={0}>
      {all.map(([name, value]) => (
        <div key={name} class="approval-argument">
          <span class="muted">{exactText(name)}</span>
          <span class="approval-value">
            <LongText text={shownValue(value ?? null)} characters={20_000} isExact />
          </span>
        </div>
      ))}
    </div>
  )
}

/** A short value stays on one line. */
const maxLine = 60

function shownValue(value: Json): string {
  if (typeof value === 'string' && value.includes('\n')) return value
  const line = JSON.stringify(value)
  return typeof value !== 'object' || line.length <= maxLine ? line : JSON.stringify(value, null, 2)
}
