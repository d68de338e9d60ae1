import { useState } from 'preact/hooks'
import { usePage } from '../state/page.ts'
import { Dialog } from '../ui/dialog.tsx'

/** Asks for a token: there is none, it has expired, or it is wrong. `onClose`: the token may be kept. */
export function TokenDialog({ onClose }: { onClose?(): void }) {
  const page = usePage()
  const [text, setText] = useState('')
  const { value: connection } = page.connection
  const token = text.trim().replace(/^.*#token=/, '')
  return (
    <Dialog title="Access token" {...(onClose && { onClose })}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (token === '') return
          page.setToken(token)
          onClose?.()
        }}
      >
        <h2>Access token</h2>
        {page.token.value !== '' && connection.kind === 'refused' && <p class="tone-error">{connection.reason}</p>}
        <p class="muted">
          Paste the token or the whole address that <code>troupe serve</code> printed, or create one with <code>troupe token create</code>.
        </p>
        <label>
          Token
          <input
            class="field mono"
            type="password"
            autoComplete="off"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
        </label>
        <div class="dialog-actions line">
          {onClose && (
            <button type="button" class="button" onClick={onClose}>
              Cancel
            </button>
          )}
          <button type="submit" class="button button-primary" disabled={token === ''}>
            Continue
          </button>
        </div>
      </form>
    </Dialog>
  )
}

/** An address had a token, and the stored one works: a person decides. */
export function OfferedTokenDialog({ token }: { readonly token: string }) {
  const page = usePage()
  const keep = (): void => {
    page.offeredToken.value = undefined
  }
  return (
    <Dialog title="Another access token" onClose={keep}>
      <h2>Use another access token?</h2>
      <p>The address that was opened contains a token that differs from yours.</p>
      <p class="muted">
        Use it only if you opened the address yourself. Other people who know the token see the sessions that you start with it.
      </p>
      <div class="dialog-actions line">
        <button type="button" class="button" onClick={() => page.setToken(token)}>
          Use the other token
        </button>
        <button type="button" class="button button-primary" onClick={keep}>
          Keep yours
        </button>
      </div>
    </Dialog>
  )
}
