import type { ComponentChildren } from 'preact'
import { quotaText } from '../../policy/limit-texts.ts'
import { type AttemptNode, duration, type NoteNode, type RejectedAnswer } from '../../view/index.ts'
import { LongText } from '../markdown/long-text.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { noteText } from '../ui/note-text.ts'

type Tone = 'muted' | 'warning' | 'error'

interface QuietLineProps {
  readonly icon: IconName
  readonly tone?: Tone
  readonly children: ComponentChildren
  readonly remedy?: string | undefined
}

/** What happened beside the work, in a line. */
export const QuietLine = ({ icon, tone = 'muted', children, remedy }: QuietLineProps) => (
  <p class="quiet tone-muted small">
    <Icon name={icon} class={`tone-${tone}`} />
    <span>
      {children}
      {remedy !== undefined && (
        <span class="muted">
          {' '}
          <LongText text={remedy} characters={2_000} />
        </span>
      )}
    </span>
  </p>
)

export function Note({ note }: { readonly note: NoteNode }) {
  const [icon, tone] = lookOf(note)
  return (
    <QuietLine icon={icon} tone={tone} remedy={'code' in note ? note.remedy : undefined}>
      <LongText text={'code' in note ? note.message : noteText(note)} characters={2_000} />
    </QuietLine>
  )
}

function lookOf(note: NoteNode): readonly [IconName, Tone] {
  if ('hook' in note) return ['link', note.verdict === 'blocked' || note.verdict === 'failed' ? 'warning' : 'muted']
  if ('tokensBefore' in note) return ['filter', 'muted']
  return note.severity === 'info' ? ['message', 'muted'] : ['error', note.severity]
}

/** A model request that failed. `now`: for the time until the next one. */
export function FailedAttempt({ attempt: { model, modelId, failure, nextAt }, now }: { readonly attempt: AttemptNode; now(): number }) {
  // The end of the turn says that it was interrupted.
  if (!failure || failure.class === 'cancelled') return null
  const wait = nextAt === undefined ? 0 : nextAt - now()
  return (
    <QuietLine icon="retry" tone="warning" remedy={failure.remedy}>
      <LongText text={`${failure.class === 'quota' ? quotaText(modelId) : `${model} failed`}: ${failure.message}`} characters={2_000} />
      {wait > 0 && ` Next attempt in ${duration(wait)}.`}
    </QuietLine>
  )
}

export const Rejected = ({ rejected: { problems } }: { readonly rejected: RejectedAnswer }) => (
  <QuietLine icon="retry" tone="warning">
    <LongText text={`The answer does not match the output schema: ${problems.join('; ')}`} characters={2_000} />
  </QuietLine>
)
