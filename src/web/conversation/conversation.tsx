import type { SessionStore } from '../state/session-store.ts'

export function Conversation({ store }: { readonly store: SessionStore }) {
  void store.frame.value
  return (
    <div class="page">
      {store.root?.turns.map((turn) => (
        <p key={turn.id}>{store.use(turn).report?.text ?? turn.steps.at(-1)?.texts.at(-1)?.text}</p>
      ))}
    </div>
  )
}
