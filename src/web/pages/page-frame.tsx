import type { ComponentChildren } from 'preact'
import { PaneHead } from '../ui/pane-head.tsx'

interface FrameProps {
  readonly title: ComponentChildren
  readonly class?: string
  readonly children: ComponentChildren
}

/** A page with one column. */
export function PageFrame({ title, class: more = '', children }: FrameProps) {
  return (
    <>
      <PaneHead title={title} />
      <div class="page">
        <div class={`page-column ${more}`}>{children}</div>
      </div>
    </>
  )
}

interface SectionProps {
  readonly title: string
  /** The level of its heading. */
  readonly level?: 2 | 3
  readonly children: ComponentChildren
}

export function PageSection({ title, level = 3, children }: SectionProps) {
  const Heading = `h${level}` as const
  return (
    <section class="page-section" aria-label={title}>
      <Heading class="section-title">{title}</Heading>
      {children}
    </section>
  )
}
