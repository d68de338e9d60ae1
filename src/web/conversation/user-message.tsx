import { useEffect, useRef, useState } from 'preact/hooks'
import { textOfParts } from '../../util/text-of-parts.ts'
import type { MessageNode } from '../../view/index.ts'
import { dropMessage, resendMessage } from '../state/actions.ts'
import { maxTypedChars } from '../state/attachments.ts'
import { branchWith } from '../state/branch-session.ts'
import { readOnly } from '../state/continuation.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import type { PendingMessage, SessionStore } from '../state/session-store.ts'
import { ContinueThere } from '../ui/continue-there.tsx'
import { CopyIcon } from '../ui/copy-button.tsx'
import { Icon } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import type { MessageState } from './conversation-items.ts'
import { useView } from './conversation-view.ts'
import { MessageParts } from './message-parts.tsx'

const stateTexts: { readonly [State in MessageState]: string } = {
  read: '',
  queued: 'queued: next turn',
  steers: 'steers the next step',
  held: 'held: sent before your next message',
}

interface UserMessageProps {
  readonly message: MessageNode
  readonly state?: MessageState
  /** It began a turn of the root: it can be sent again in a copy of the session. */
  readonly canBranch?: boolean
}

export function UserMessage({ message, state = 'read', canBranch = false }: UserMessageProps) {
  const page = usePage()
  const { store } = useView()
  const [isEditing, setEditing] = useState(false)
  const article = useRef<HTMLElement>(null)
  const { route } = page
  const isMarked = route.value.view === 'session' && route.value.message === message.id
  const isSteering = message.mode === 'steer' && !canBranch
  const text = textOfParts(message.parts, '\n\n')
  const mayBranch = canBranch && page.mayRun.value && !readOnly(page, store.id)
  return (
    <article ref={article} class="said" data-message={message.id} data-marked={isMarked ? '' : undefined}>
      <h2 class="visually-hidden">You</h2>
      {isEditing ? (
        <MessageEditor
          message={message}
          onClose={() => {
            setEditing(false)
            requestAnimationFrame(() => article.current?.querySelector<HTMLElement>('.conv-actions button')?.focus())
          }}
        />
      ) : (
        <div class="said-bubble" data-state={state}>
          <MessageParts parts={message.parts} />
        </div>
      )}
      <div class="said-foot line">
        {(state !== 'read' || isSteering) && (
          <span class="said-state line tone-muted small">
            <Icon name={isSteering ? 'steer' : 'clock'} />
            {state === 'read' ? 'steered the agent' : stateTexts[state]}
          </span>
        )}
        {!isEditing && (
          <div class="conv-actions">
            {mayBranch && <IconButton icon="edit" label="Edit" onClick={() => setEditing(true)} />}
            {mayBranch && (
              <IconButton icon="retry" label="Retry" onClick={() => void branchWith(page, store, { message, parts: message.parts })} />
            )}
            <CopyIcon text={text} label="Copy" />
            <CopyIcon icon="link" text={addressOf(store, message)} label="Copy link" />
          </div>
        )}
      </div>
    </article>
  )
}

export const addressOf = ({ id }: SessionStore, message: MessageNode): string =>
  `${location.origin}${location.pathname}${hashOf({ view: 'session', id, message: message.id })}`

function MessageEditor({ message, onClose }: { readonly message: MessageNode; onClose(): void }) {
  const page = usePage()
  const { store } = useView()
  // A very long text stays as it is: the field would need seconds for it.
  const isLong = textOfParts(message.parts, '\n\n').length > maxTypedChars
  const [text, setText] = useState(isLong ? '' : textOfParts(message.parts, '\n\n'))
  const [isSending, setSending] = useState(false)
  const box = useRef<HTMLTextAreaElement>(null)
  const files = message.parts.filter(({ type }) => isLong || type !== 'text')
  useEffect(() => {
    box.current?.focus()
    box.current?.setSelectionRange(text.length, text.length)
  }, [])
  const canSend = !isSending && (text.trim() !== '' || files.length > 0)
  const send = async (): Promise<void> => {
    if (!canSend) return
    setSending(true)
    const isSent = await branchWith(page, store, {
      message,
      parts: [...files, ...(text.trim() === '' ? [] : [{ type: 'text', text } as const])],
    })
    if (!isSent) setSending(false)
  }
  return (
    <div class="said-editor stack">
      <MessageParts parts={files} />
      <textarea
        ref={box}
        class="field"
        aria-label="Edit message"
        maxLength={maxTypedChars}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.isComposing) return
          if (event.key === 'Escape') onClose()
          if (event.key === 'Enter' && !event.shiftKey) {
            event.preventDefault()
            void send()
          }
        }}
      />
      <div class="line">
        <span class="grow muted small">Continues in a copy of this session.</span>
        <button type="button" class="button button-small" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="button button-small button-primary" disabled={!canSend} onClick={() => void send()}>
          Send as new branch
        </button>
      </div>
    </div>
  )
}

/** A message that the server has not accepted yet. */
export function PendingMessageView({ message }: { readonly message: PendingMessage }) {
  const page = usePage()
  const { store } = useView()
  const { clientId, parts, state } = message
  return (
    <article class="said" data-message={clientId}>
      <h2 class="visually-hidden">You</h2>
      <div class="said-bubble" data-state={state.kind}>
        <MessageParts parts={parts} />
      </div>
      <div class="said-foot line" role={state.kind === 'failed' ? 'alert' : undefined}>
        {state.kind === 'sending' ? (
          <span class="tone-muted small">Sending…</span>
        ) : state.kind === 'stored' ? (
          <ContinueThere reason={state.message} {...(state.command !== undefined && { command: state.command })} />
        ) : (
          <>
            <span class="line">
              <button type="button" class="button button-small" onClick={() => void resendMessage(page, store, clientId)}>
                Send again
              </button>
              <button type="button" class="button button-small" onClick={() => dropMessage(store, clientId)}>
                Discard
              </button>
            </span>
            <span class="said-state line tone-error small">
              <Icon name="error" />
              {state.message}
            </span>
          </>
        )}
      </div>
    </article>
  )
}
