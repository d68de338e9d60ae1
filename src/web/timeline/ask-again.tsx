import { useState } from 'preact/hooks'
import { textOfParts } from '../../util/text-of-parts.ts'
import { maxTypedChars } from '../state/attachments.ts'
import { branchWith } from '../state/branch-session.ts'
import { readOnly } from '../state/continuation.ts'
import { type Page, usePage } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { FormDialog } from '../ui/form-dialog.tsx'
import type { StepOperation } from './step-tabs.tsx'

interface AskAgainProps {
  readonly store: SessionStore
  readonly of: StepOperation
}

/** Asks the message of the turn again: with another model or another text, in a branch. Children are asked by their parents. */
export function AskAgain({ store, of }: AskAgainProps) {
  const page = usePage()
  const [isOpen, setOpen] = useState(false)
  const mayBranch = of.agent === store.root && page.mayRun.value && !readOnly(page, store.id) && messagesOf(of).length > 0
  if (!mayBranch) return null
  return (
    <>
      <button type="button" class="button button-small" onClick={() => setOpen(true)}>
        Ask again…
      </button>
      {isOpen && <AskDialog store={store} of={of} onClose={() => setOpen(false)} />}
    </>
  )
}

const messagesOf = ({ agent, turn }: StepOperation) => agent.messages.filter(({ id }) => turn.inputs.includes(id))

function modelsOf({ agents }: Page, { agent }: StepOperation): readonly string[] {
  const known = agents.value.find(({ name, displayName }) => name === agent.spec?.name || displayName === agent.spec?.name)
  return [...new Set([...(known?.models ?? []), ...(agent.spec?.models ?? [])])]
}

function AskDialog({ store, of, onClose }: AskAgainProps & { onClose(): void }) {
  const page = usePage()
  const messages = messagesOf(of)
  const parts = messages.flatMap((message) => message.parts)
  const before = textOfParts(parts, '\n\n')
  // A very long text stays as it is: the field would need seconds for it.
  const isLong = before.length > maxTypedChars
  const [text, setText] = useState(isLong ? '' : before)
  const [model, setModel] = useState('')
  const [isSending, setSending] = useState(false)
  const send = async (): Promise<void> => {
    const [message] = messages
    if (!message) return
    setSending(true)
    const files = parts.filter(({ type }) => isLong || type !== 'text')
    const isSent = await branchWith(page, store, {
      message,
      parts: [...files, ...(text.trim() === '' ? [] : [{ type: 'text', text } as const])],
      ...(model !== '' && { settings: { models: [model] } }),
    })
    setSending(false)
    if (isSent) onClose()
  }
  return (
    <FormDialog
      title="Ask again"
      action="Send as new branch"
      isDisabled={isSending || (text.trim() === '' && !isLong && parts.every(({ type }) => type === 'text'))}
      onAct={() => void send()}
      onClose={onClose}
    >
      <p class="muted small">A copy of this session begins again at the message of turn {of.turn.number}. This session stays as it is.</p>
      <label class="ask-field stack">
        Model
        <select class="field" value={model} onChange={({ currentTarget }) => setModel(currentTarget.value)}>
          <option value="">As before</option>
          {modelsOf(page, of).map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label class="ask-field stack">
        {isLong ? 'Added to the message, which is too long to edit' : 'Message'}
        <textarea
          class="field"
          rows={6}
          maxLength={maxTypedChars}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
    </FormDialog>
  )
}
