import { useComputed } from '@preact/signals'
import { quotaText, turnEndTexts } from '../../policy/limit-texts.ts'
import { type AgentNode, grouped, price, type TurnNode, tokenWords, turnTimes, workTime } from '../../view/index.ts'
import { LongText } from '../markdown/long-text.tsx'
import { branchWith } from '../state/branch-session.ts'
import { readOnly } from '../state/continuation.ts'
import { usePage } from '../state/page.ts'
import { showModelRequest } from '../timeline/timeline-state.ts'
import { CopyIcon } from '../ui/copy-button.tsx'
import { Icon } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { CallFold } from './call-fold.tsx'
import { turnParts } from './call-runs.ts'
import { answerOf, isQuiet, planStep, type ShownRange, shownSteps } from './conversation-items.ts'
import { moreOperations, useView } from './conversation-view.ts'
import { QuietLine } from './notes.tsx'
import { PlanView } from './plan.tsx'
import { AnswerText, Step } from './step.tsx'
import { addressOf } from './user-message.tsx'

interface TurnProps {
  readonly turn: TurnNode
  readonly agent: AgentNode
  readonly isNested?: boolean | undefined
}

/** Everything that an agent did for a message, and its answer. */
export function Turn({ turn, agent, isNested = false }: TurnProps) {
  const page = usePage()
  const view = useView()
  view.store.use(turn)
  const range = view.range(turn.id)
  const isSelected = useComputed(() => page.selected.value === turn.id).value
  const { shown, earlier, later } = shownSteps(turn, range.value)
  const planned = planStep(turn)
  const { report, steps } = turn
  const isAnswerShown = steps.at(-1)?.texts.some(({ type }) => type === 'agent_message') ?? false
  const isChild = agent !== view.store.root
  const showMore = (next: ShownRange): void => {
    view.hold()
    range.value = next
  }
  return (
    <article class="conv-turn" data-node={turn.id} data-nested={isNested ? '' : undefined} data-selected={isSelected ? '' : undefined}>
      {isNested || <h2 class={isChild ? 'speaker line' : 'visually-hidden'}>{agent.name}</h2>}
      <MoreButton count={earlier} word="earlier" onClick={() => showMore({ ...range.value, limit: range.value.limit + moreOperations })} />
      {planned && turn.plan && !shown.some(({ step }) => step === planned) && <PlanView id={`${planned.id}/plan`} plan={turn.plan} />}
      {turnParts(shown, isQuiet).map((part) =>
        part.kind === 'step' ? (
          <Step
            key={part.shown.step.id}
            {...{ ...part.shown, agent }}
            plan={part.shown.step === planned ? turn.plan : undefined}
            ending={turn.ending}
          />
        ) : (
          <CallFold
            key={part.id}
            id={part.id}
            calls={part.calls}
            items={part.steps}
            contains={(id) => part.steps.some(({ step }) => id === step.id || id.startsWith(`${step.id}.`))}
            render={(each) => <Step key={each.step.id} {...{ ...each, agent }} plan={undefined} ending={turn.ending} isFolded />}
          />
        ),
      )}
      <MoreButton count={later} word="later" onClick={() => showMore(laterRange(range.value, later))} />
      {report && !isAnswerShown && <AnswerText text={report.text} isJson={report.format === 'json'} />}
      <TurnEnd turn={turn} />
      {isNested || <TurnFoot turn={turn} agent={agent} />}
    </article>
  )
}

function laterRange({ limit, to = 0 }: ShownRange, later: number): ShownRange {
  const next = { limit: limit + Math.min(later, moreOperations), to: to + moreOperations }
  return later > moreOperations ? next : { limit: next.limit }
}

interface MoreButtonProps {
  readonly count: number
  readonly word: 'earlier' | 'later'
  onClick(): void
}

const MoreButton = ({ count, word, onClick }: MoreButtonProps) =>
  count > 0 ? (
    <p>
      <button type="button" class="link-button small" onClick={onClick}>
        Show {grouped(Math.min(count, moreOperations))} {word} operations{count > moreOperations && ` of ${grouped(count)}`}
      </button>
    </p>
  ) : null

const endTitles = { partial: 'Partial answer', failed: 'Failed', interrupted: 'Stopped' } as const

function TurnEnd({ turn: { ending, steps } }: { readonly turn: TurnNode }) {
  if (!ending || ending.status === 'completed') return null
  const { status, reason } = ending
  const why = reason === status ? '' : `: ${turnEndTexts[reason].status}`
  if (status !== 'failed')
    return (
      <QuietLine icon={status === 'partial' ? 'error' : 'stop'} tone="warning">
        {endTitles[status]}
        {why}
        {'limit' in ending && ending.limit === 'owner' && ' of your account'}
        {'limit' in ending && ending.limit === 'above' && ' of a parent'}
      </QuietLine>
    )
  const { modelId } = steps.at(-1)?.attempts.at(-1) ?? {}
  return (
    <div class="failure line callout callout-error">
      <Icon name="error" />
      <div>
        <strong>{ending.failure?.class === 'quota' && modelId !== undefined ? quotaText(modelId) : `${endTitles.failed}${why}`}</strong>
        <p>
          <LongText text={ending.message} characters={2_000} />
        </p>
        {ending.remedy !== undefined && (
          <p class="muted">
            <LongText text={ending.remedy} characters={2_000} />
          </p>
        )}
      </div>
    </div>
  )
}

/** Figures of a turn and what can be done with its answer. It has its place from the beginning, so that nothing moves at the end. */
function TurnFoot({ turn, agent }: TurnProps) {
  const page = usePage()
  const { store } = useView()
  store.use(turn)
  if (!turn.ending) return <div class="turn-foot line" />
  const { totals } = turn
  const model = turn.steps.at(-1)?.attempts.at(-1)?.model
  const figures = totals
    ? [workTime(turnTimes(turn)), totals.usage.input > 0 && tokenWords(totals.usage), price(totals.cost), model].filter(Boolean)
    : [model]
  const messages = agent.messages.filter(({ id }) => turn.inputs.includes(id))
  const [message] = messages
  const answer = answerOf(turn)
  const lastStep = turn.steps.at(-1)
  return (
    <div class="turn-foot line">
      <span class="turn-figures">{figures.join(' · ')}</span>
      <div class="conv-actions">
        {answer !== '' && <CopyIcon text={answer} label="Copy" />}
        {message && <CopyIcon icon="link" text={addressOf(store, message)} label="Copy link" />}
        {lastStep && page.isAdmin.value && (
          <IconButton icon="reasoning" label="What the model saw" onClick={() => showModelRequest(page, store, lastStep.id)} />
        )}
        {message && page.mayRun.value && agent === store.root && !readOnly(page, store.id) && (
          <IconButton
            icon="retry"
            label="Retry"
            onClick={() => void branchWith(page, store, { message, parts: messages.flatMap(({ parts }) => parts) })}
          />
        )}
      </div>
    </div>
  )
}
