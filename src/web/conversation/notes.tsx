import type { ComponentChildren } from 'preact'
import { type AttemptNode, duration, grouped, type NoteNode, type RejectedAnswer } from '../../view/index.ts'
import { Icon, type IconName } from '../ui/icon.tsx'

type Tone = 'muted' | 'warning' | 'error'

interface QuietLineProps {
  readonly icon: IconName
  readonly tone?: Tone
  readonly children: ComponentChildren
  readonly remedy?: string | undefined
}

/** What happened beside the work, in a line. */
export const QuietLine = ({ icon, tone = 'muted', children, remedy }: QuietLineProps) => (
  <p class={`quiet quiet-${tone}`}>
    <Icon name={icon} />
    <span>
      {children}
      {remedy !== undefined && <span class="quiet-remedy"> {remedy}</span>}
    </span>
  </p>
)

const hookTexts: { readonly [Verdict in Extract<NoteNode, { hook: string }>['verdict']]: string } = {
  changed: 'changed the call',
  blocked: 'blocked it',
  context: 'added a text',
  resumed: 'sent the agent back to work',
  failed: 'failed',
}

export function Note({ note }: { readonly note: NoteNode }) {
  if ('code' in note)
    return (
      <QuietLine
        icon={note.severity === 'info' ? 'message' : 'error'}
        tone={note.severity === 'info' ? 'muted' : note.severity}
        remedy={note.remedy}
      >
        {note.message}
      </QuietLine>
    )
  if ('hook' in note) {
    const isBad = note.verdict === 'blocked' || note.verdict === 'failed'
    return (
      <QuietLine icon="link" tone={isBad ? 'warning' : 'muted'}>
        Hook {note.hook} {hookTexts[note.verdict]}
        {note.message !== '' && `: ${note.message}`}
      </QuietLine>
    )
  }
  return (
    <QuietLine icon="filter">
      History compacted: {grouped(note.tokensBefore)} → {grouped(note.tokensAfter)} tokens
    </QuietLine>
  )
}

/** A model request that failed. `now`: for the time until the next one. */
export function FailedAttempt({ attempt: { model, failure, nextAt }, now }: { readonly attempt: AttemptNode; now(): number }) {
  if (!failure) return null
  const wait = nextAt === undefined ? 0 : nextAt - now()
  return (
    <QuietLine icon="retry" tone="warning" remedy={failure.remedy}>
      {model} failed: {failure.message}
      {wait > 0 && ` Next attempt in ${duration(wait)}.`}
    </QuietLine>
  )
}

export const Rejected = ({ rejected: { problems } }: { readonly rejected: RejectedAnswer }) => (
  <QuietLine icon="retry" tone="warning">
    The answer does not match the output schema: {problems.join('; ')}
  </QuietLine>
)
