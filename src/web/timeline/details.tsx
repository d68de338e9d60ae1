import { useState } from 'preact/hooks'
import { exactLine } from '../../util/exact-text.ts'
import type { NodeId } from '../../view/index.ts'
import { LongText } from '../markdown/long-text.tsx'
import { usePage } from '../state/page.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { Diff } from '../ui/diff.tsx'
import { Facts } from '../ui/facts.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { Splitter } from '../ui/splitter.tsx'
import { StatusMark, statusLabel } from '../ui/status-mark.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { AskAgain } from './ask-again.tsx'
import { type DetailSection, detailsOf } from './details-of.ts'
import { timeText, useNodes } from './operation-row.tsx'
import { rawJson } from './raw-json.ts'
import { factsOf, type RowFacts } from './row-facts.ts'
import { nodeOf, type Operation, rowOf } from './rows.ts'
import { RequestTab, TokensTab } from './step-tabs.tsx'
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
  const facts = factsOf(of, state.now)
  const { name, status, problem } = facts
  const isStep = of.kind === 'step' || of.kind === 'attempt'
  const { value: tab } = state.stepTab
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
        <span class="timeline-details-state muted small truncate">
          {[statusLabel(status), problem, timeText(facts)].filter(Boolean).join(' · ')}
        </span>
        <button type="button" class="button button-small" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          Raw
        </button>
        <CopyButton text={() => rawJson(nodeOf(of))} />
        <IconButton icon="close" label="Close details" onClick={close} />
      </header>
      {isStep && !isRaw && (
        <div class="timeline-step-tabs line">
          <Tabs
            label="Details of the model step"
            class="timeline-tabs"
            tabs={{ request: 'Request', response: 'Response', tokens: 'Tokens' }}
            selected={tab}
            onSelect={(next) => (state.stepTab.value = next)}
          />
          <AskAgain key={id} store={state.store} of={of} />
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: a group of texts, not of controls */}
      <div class="timeline-details-body" role="group" aria-label="Contents" tabIndex={0} key={`${id} ${isRaw} ${isStep && tab}`}>
        {isRaw ? (
          <Text text={rawJson(nodeOf(of))} />
        ) : isStep && tab === 'request' ? (
          <RequestTab store={state.store} of={of} />
        ) : isStep && tab === 'tokens' ? (
          <TokensTab of={of} />
        ) : (
          <Contents of={of} facts={facts} />
        )}
      </div>
    </section>
  )
}

function Contents({ of, facts: shown }: { readonly of: Operation; readonly facts: RowFacts }) {
  const { error, sections, facts } = detailsOf(of, shown)
  const texts = sections.map((section, index) => <Section key={index} {...section} />)
  // What a call was given, and what a call or a model has answered, matters most.
  const isFirst = of.kind === 'call' || of.kind === 'request' || of.kind === 'step'
  return (
    <>
      <Section name="Error" text={error} class="tone-error" />
      {isFirst && texts}
      <Facts class="timeline-facts" facts={facts} />
      {!isFirst && texts}
    </>
  )
}

function Section({ name, text, diff, class: tone = '' }: DetailSection & { readonly class?: string }) {
  if (!text && !diff) return null
  return (
    <div class="timeline-section">
      <h3>{name}</h3>
      <div class={tone}>
        {text && <Text text={text} />}
        {diff && <Diff diff={diff} />}
      </div>
    </div>
  )
}

const Text = ({ text }: { readonly text: string }) => (
  <pre class="timeline-text">
    <LongText text={text} characters={20_000} isExact />
  </pre>
)
