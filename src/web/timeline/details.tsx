import { useState } from 'preact/hooks'
import { exactLine } from '../../util/exact-text.ts'
import { duration, elapsed, type NodeId } from '../../view/index.ts'
import { noteText } from '../conversation/note-text.ts'
import { LongText } from '../markdown/long-text.tsx'
import { usePage } from '../state/page.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Splitter } from '../ui/splitter.tsx'
import { StatusMark, statusLabel } from '../ui/status-mark.tsx'
import { detailsOf } from './details-of.tsx'
import { Section } from './details-section.tsx'
import { useNodes } from './operation-row.tsx'
import { rawJson } from './raw-json.ts'
import { factsOf, grows } from './row-facts.ts'
import { nodeOf, type Operation, rowOf } from './rows.ts'
import type { TimelineState } from './timeline-state.ts'

/** Everything that is known about the selected row. */
export function Details({ state, id }: { readonly state: TimelineState; readonly id: string }) {
  const row = rowOf(state.all.value, id)
  return row ? <DetailsOf state={state} id={row.id} of={row.of} /> : null
}

/** Rendered again when its nodes change, not with each frame: contents may be long. */
function DetailsOf({ state, id, of }: { readonly state: TimelineState; readonly id: NodeId; readonly of: Operation }) {
  const { settings, set } = usePage()
  const [isRaw, setRaw] = useState(false)
  useNodes(state.store, of)
  const facts = factsOf({ of }, grows(of) ? state.now.value : 0)
  const { name, status, problem, segments, durationMs } = facts
  const isOpen = segments.some((segment) => segment.isOpen)
  const close = (): void => {
    state.isDetailsOpen.value = false
    document.getElementById('operations')?.focus()
  }
  return (
    <section
      class="timeline-details"
      aria-label="Details"
      style={{ height: `${settings.value.detailsHeight}px` }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close()
      }}
    >
      <Splitter
        label="Details height"
        edge="top"
        width={settings.value.detailsHeight}
        min={120}
        max={800}
        onResize={(detailsHeight) => set({ detailsHeight })}
      />
      <header class="timeline-details-head line">
        <StatusMark status={status} />
        <h2 class="truncate">{exactLine(name.slice(0, 300))}</h2>
        <span class="timeline-details-state muted truncate">
          {[statusLabel(status), problem, isOpen ? elapsed(durationMs) : duration(durationMs)].filter(Boolean).join(' · ')}
        </span>
        <button type="button" class="button button-small" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          Raw
        </button>
        <CopyButton text={() => rawJson(nodeOf(of))} />
        <IconButton icon="close" label="Close details" onClick={close} />
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: a group of texts, not of controls */}
      <div class="timeline-details-body" role="group" aria-label="Contents" tabIndex={0} key={`${id} ${isRaw}`}>
        {isRaw ? (
          <pre class="timeline-text">
            <LongText text={rawJson(nodeOf(of))} isExact />
          </pre>
        ) : (
          <>
            {detailsOf(of, facts)}
            {facts.notes.length > 0 && <Section name="Notes" text={facts.notes.map(noteText).join('\n')} />}
          </>
        )}
      </div>
    </section>
  )
}
