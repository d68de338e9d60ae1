import { useMemo } from 'preact/hooks'
import { type AttemptNode, duration, grouped, price, type StepNode } from '../../view/index.ts'
import { modelRequest, type RequestPlace } from '../state/model-requests.ts'
import { usePage } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { type Fact, Facts } from '../ui/facts.tsx'
import { lazy } from '../ui/lazy.tsx'
import type { Operation } from './rows.ts'

export type StepOperation = Extract<Operation, { kind: 'step' | 'attempt' }>

const RequestView = lazy(() => import('./request-view.tsx').then(({ RequestView }) => RequestView))

/** What the model saw. */
export function RequestTab({ store, of }: { readonly store: SessionStore; readonly of: StepOperation }) {
  const page = usePage()
  if (page.status.value && !page.isAdmin.value)
    return (
      <p class="request-none muted">
        Requests contain prompts and project instructions. Your token cannot read them: it lacks the scope “admin”.
      </p>
    )
  return <LoadedRequest store={store} of={of} />
}

function LoadedRequest({ store, of }: { readonly store: SessionStore; readonly of: StepOperation }) {
  const page = usePage()
  const { length: attempts } = of.step.attempts
  const state = useMemo(() => modelRequest(page, store, { place: placeOf(of), before: placeBefore(of) }), [store, of, attempts]).value
  switch (state.kind) {
    case 'loading':
      return <p class="request-none muted">Loading…</p>
    case 'unrecorded':
      return (
        <p class="request-none muted">
          Tools were not recorded: an older version of Troupe sent this request. Newer requests of the session can be shown.
        </p>
      )
    case 'failed':
      return (
        <p class="request-none tone-error">
          {state.message} {state.remedy}
        </p>
      )
    case 'ready':
      return <RequestView state={state} />
  }
}

const stepIdOf = (sessionId: string, { id }: StepNode): string => id.slice(sessionId.length + 1)

const placeOf = ({ agent, step, ...of }: StepOperation): RequestPlace => ({
  sessionId: agent.id,
  stepId: stepIdOf(agent.id, step),
  attempts: step.attempts.length,
  ...(of.kind === 'attempt' && { attempt: of.attempt.number }),
})

/** The step before, maybe of an earlier turn. */
function placeBefore({ agent, step }: StepOperation): RequestPlace | undefined {
  const steps = agent.turns.flatMap((turn) => turn.steps)
  const before = steps[steps.indexOf(step) - 1]
  return before && { sessionId: agent.id, stepId: stepIdOf(agent.id, before), attempts: before.attempts.length }
}

/** What each attempt used. */
export function TokensTab({ of }: { readonly of: StepOperation }) {
  const attempts = of.kind === 'attempt' ? [of.attempt] : of.step.attempts
  return (
    <div class="usage">
      {attempts.map((attempt, index) => (
        <AttemptUsage key={index} attempt={attempt} isOnly={attempts.length === 1} />
      ))}
    </div>
  )
}

function AttemptUsage({ attempt, isOnly }: { readonly attempt: AttemptNode; readonly isOnly: boolean }) {
  const { number, model, usage, cost, latencyMs, firstTokenMs, failure, expected } = attempt
  const title = isOnly ? model : `Attempt ${number} · ${model}${failure ? ' · failed' : ''}`
  if (!usage)
    return (
      <section>
        <h3>{title}</h3>
        <p class="muted small">Nothing is counted yet. About {grouped(expected)} tokens were sent.</p>
      </section>
    )
  const { input, output, cacheRead, cacheWrite, reasoning, estimated } = usage
  const fresh = Math.max(0, input - cacheRead - cacheWrite)
  const shares = [
    { name: 'From cache', tokens: cacheRead, kind: 'cached' },
    { name: 'Written to cache', tokens: cacheWrite, kind: 'written' },
    { name: 'Not cached', tokens: fresh, kind: 'fresh' },
  ] as const
  const percent = (tokens: number): string => (input === 0 ? '' : ` · ${Math.round((100 * tokens) / input)} %`)
  // For a moment it says nothing.
  const perSecond = latencyMs && latencyMs > 200 ? (1_000 * output) / latencyMs : 0
  const facts: readonly Fact[] = [
    ['Input', `${grouped(input)} tokens${estimated ? ', estimated' : ''}`],
    ...shares.map(
      ({ name, tokens, kind }): Fact => [
        name,
        <span class={`usage-key usage-${kind}`}>
          {grouped(tokens)}
          {percent(tokens)}
        </span>,
      ],
    ),
    ['Output', `${grouped(output)} tokens${estimated ? ', estimated' : ''}`],
    ['Reasoning', reasoning > 0 ? `${grouped(reasoning)} of the output` : undefined],
    ['First token', firstTokenMs === undefined ? undefined : `after ${duration(firstTokenMs)}`],
    ['Time', latencyMs === undefined ? undefined : `${duration(latencyMs)}${perSecond >= 1 ? ` · ${grouped(perSecond)} tokens/s` : ''}`],
    ['Cost', cost === undefined ? undefined : cost === 0 ? 'free' : price(cost)],
  ]
  return (
    <section>
      <h3>{title}</h3>
      {input > 0 && (
        <div class="usage-bar" aria-hidden="true">
          {shares.map(({ kind, tokens }) => tokens > 0 && <span key={kind} class={`usage-${kind}`} style={{ flexGrow: tokens }} />)}
        </div>
      )}
      <Facts class="timeline-facts" facts={facts} />
    </section>
  )
}
