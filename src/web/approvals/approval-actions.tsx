import { useState } from 'preact/hooks'
import type { ApprovalDecision, ApprovalRequest } from '../../contracts/index.ts'
import { answerKeys } from '../commands/commands.ts'
import { usePage } from '../state/page.ts'
import { Icon } from '../ui/icon.tsx'
import { MenuButton } from '../ui/menu.tsx'
import { grantChoices } from './grant-choices.ts'

interface ApprovalActionsProps {
  readonly request: ApprovalRequest
  /** Keys answer this request. */
  readonly hasKeys: boolean
  onDecide(decision: ApprovalDecision): void
}

const maxFeedback = 10_000

/** Allow once or for longer, deny with or without words, end the run. */
export function ApprovalActions({ request, hasKeys, onDecide }: ApprovalActionsProps) {
  const page = usePage()
  const [feedback, setFeedback] = useState('')
  const key = (answer: keyof typeof answerKeys) =>
    hasKeys &&
    page.settings.value.hasLetterKeys && (
      <span class="approval-key mono" aria-hidden="true">
        {answerKeys[answer]}
      </span>
    )
  const grants = grantChoices(request, { mayGrantProject: page.status.value?.scopes.includes('admin') ?? false })
  return (
    <div class="approval-row line">
      <button
        type="button"
        class="button button-primary"
        data-answer="allow"
        onClick={() => onDecide({ kind: 'approve', breadth: 'once' })}
      >
        Allow once {key('allow')}
      </button>
      {grants.length > 0 && (
        <MenuButton
          label="Always allow…"
          isNamed
          class="button approval-always"
          align="start"
          items={grants.map(({ label, decision }) => ({ label, onSelect: () => onDecide(decision) }))}
        >
          Always allow… {key('always')}
        </MenuButton>
      )}
      <form
        class="approval-row line grow approval-deny"
        onSubmit={(event) => {
          event.preventDefault()
          onDecide({ kind: 'deny', ...(feedback.trim() !== '' && { feedback: feedback.trim() }) })
        }}
      >
        <input
          class="field grow"
          aria-label="Feedback"
          placeholder="Reason (optional)"
          maxLength={maxFeedback}
          value={feedback}
          onInput={({ currentTarget }) => setFeedback(currentTarget.value)}
        />
        <button type="submit" class="button" data-answer="deny">
          Deny {key('deny')}
        </button>
        <EndMenu onDecide={onDecide} />
      </form>
    </div>
  )
}

export const DeclineActions = ({ onDecide }: Pick<ApprovalActionsProps, 'onDecide'>) => (
  <>
    <button type="button" class="button" onClick={() => onDecide({ kind: 'deny' })}>
      Decline
    </button>
    <EndMenu onDecide={onDecide} />
  </>
)

const EndMenu = ({ onDecide }: Pick<ApprovalActionsProps, 'onDecide'>) => (
  <MenuButton
    label="End the run"
    class="icon-button"
    items={[{ label: 'Deny and end the run', icon: 'stop', isDanger: true, onSelect: () => onDecide({ kind: 'abort' }) }]}
  >
    <Icon name="more" />
  </MenuButton>
)
