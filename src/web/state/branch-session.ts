import type { InputPart } from '../../contracts/index.ts'
import type { MessageNode } from '../../view/index.ts'
import { attempt } from './actions.ts'
import { partsWithData } from './outputs.ts'
import type { Page } from './page.ts'
import type { SessionStore } from './session-store.ts'
import type { TurnSettings } from './turn-settings.ts'

interface Branch {
  readonly message: MessageNode
  readonly parts: readonly InputPart[]
  readonly settings?: TurnSettings
}

const branching = new WeakSet<SessionStore>()

/** Continues a copy of the session from this message on. False: it failed, and a notice says why. A second click makes no second copy. */
export async function branchWith(page: Page, store: SessionStore, { parts, ...given }: Branch): Promise<boolean> {
  if (branching.has(store)) return false
  branching.add(store)
  let sent: readonly InputPart[] = []
  const isLoaded = await attempt(page, async () => {
    sent = await partsWithData(page, store.id, parts)
  })
  const isDone = isLoaded && (await branch(page, store, { ...given, parts: sent }))
  branching.delete(store)
  return isDone
}

/** A copy of the session up to before this message, which continues with these parts instead. */
function branch(page: Page, store: SessionStore, { message, parts, settings }: Branch): Promise<boolean> {
  return attempt(page, async () => {
    const { sessionId } = await page.http.post<{ readonly sessionId: string }>(`/v1/sessions/${store.id}/fork`, { seq: message.seq - 1 })
    await page.http.post(`/v1/sessions/${sessionId}/messages`, { input: parts, clientId: crypto.randomUUID(), ...settings })
    page.go({ view: 'session', id: sessionId })
  })
}
