import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { exactText } from '../../util/exact-text.ts'
import { grouped } from '../../view/index.ts'

const firstCharacters = 20_000

interface SectionProps {
  readonly name: string
  readonly text?: string | undefined
  readonly tone?: 'error'
  readonly children?: ComponentChildren
}

/** A part of the details. Without a text and contents, nothing. A long text opens in steps. */
export function Section({ name, text, tone, children }: SectionProps) {
  const [limit, setLimit] = useState(firstCharacters)
  if ((text === undefined || text === '') && !children) return null
  return (
    <div class="timeline-section">
      <h3>{name}</h3>
      <div class={tone === 'error' ? 'timeline-error' : ''}>
        {text && <pre class="timeline-text">{exactText(text.slice(0, limit))}</pre>}
        {text && text.length > limit && (
          <button type="button" class="button button-small" onClick={() => setLimit(limit * 10)}>
            Show more of {grouped(text.length)} characters
          </button>
        )}
        {children}
      </div>
    </div>
  )
}

/** Names and values. Those without a value are omitted. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, string | undefined])[] }) {
  return (
    <dl class="timeline-facts">
      {facts.map(
        ([name, value]) =>
          value !== undefined &&
          value !== '' && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{exactText(value)}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
