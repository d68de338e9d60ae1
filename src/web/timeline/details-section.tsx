import type { ComponentChildren } from 'preact'
import { LongText } from '../markdown/long-text.tsx'

interface SectionProps {
  readonly name: string
  readonly text?: string | undefined
  readonly tone?: 'error'
  readonly children?: ComponentChildren
}

/** A part of the details. Without a text and contents, nothing. */
export function Section({ name, text, tone, children }: SectionProps) {
  if (!text && !children) return null
  return (
    <div class="timeline-section">
      <h3>{name}</h3>
      <div class={tone === 'error' ? 'tone-error' : ''}>
        {text && (
          <pre class="timeline-text">
            <LongText text={text} characters={20_000} isExact />
          </pre>
        )}
        {children}
      </div>
    </div>
  )
}
