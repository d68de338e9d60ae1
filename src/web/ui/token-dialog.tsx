import { useState } from 'preact/hooks'
import { usePage } from '../state/page.ts'
import { FormDialog } from './form-dialog.tsx'

/** Asks for a token: there is none, it has expired, or it is wrong. `onClose`: the token may be kept. */
export function TokenDialog({ onClose }: { onClose?(): void }) {
  const page = usePage()
  const [text, setText] = useState('')
  const { value: connection } = page.connection
  const token = text.trim().replace(/^.*#token=/, '')
  const use = (): void => {
    if (token === '') return
    page.setToken(token)
    onClose?.()
  }
  return (
    <FormDialog title="Access token" action="Continue" isDisabled={token === ''} onAct={use} onClose={onClose}>
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
    </FormDialog>
  )
}

/** An address had a token, and the stored one works: a person decides. */
export function OfferedTokenDialog({ token }: { readonly token: string }) {
  const page = usePage()
  const keep = (): void => {
    page.offeredToken.value = undefined
  }
  return (
    <FormDialog
      title="Another access token"
      heading="Use another access token?"
      action="Keep yours"
      other={{ label: 'Use the other token', onClick: () => page.setToken(token) }}
      onAct={keep}
      onClose={keep}
    >
      <p>The address that was opened contains a token that differs from yours.</p>
      <p class="muted">
        Use it only if you opened the address yourself. Other people who know the token see the sessions that you start with it.
      </p>
    </FormDialog>
  )
}
