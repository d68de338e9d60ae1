import { type ApprovalDecision, answeredText, type InputMode, type InputPart } from '../../contracts/index.ts'
import type { ReceiptDocument, SessionDocument } from '../api/documents.ts'
import { ApiError } from '../api/http.ts'
import { readRequests } from './connection.ts'
import type { Page } from './page.ts'
import type { PendingMessage, SessionStore } from './session-store.ts'
import type { TurnSettings } from './turn-settings.ts'

// What people do. A failure is shown as a notice, and nothing that was typed is lost.

export interface Draft {
  readonly parts: readonly InputPart[]
  readonly mode?: InputMode
  readonly settings?: TurnSettings
}

/** The start that the server did not answer: it may have happened. */
let unanswered: { readonly request: string; readonly clientId: string } | undefined

/** Starts a session and shows it. False: it was not started. The same request again, after no answer, starts it once. */
export function startSession(page: Page, agent: string, { parts, settings }: Draft): Promise<boolean> {
  return attempt(page, async () => {
    const body = { agent, input: parts, ...settings }
    const request = JSON.stringify(body)
    const clientId = unanswered?.request === request ? unanswered.clientId : crypto.randomUUID()
    unanswered = { request, clientId }
    try {
      const { sessionId } = await page.http.post<{ readonly sessionId: string }>('/v1/sessions', { ...body, clientId })
      unanswered = undefined
      page.go({ view: 'session', id: sessionId })
    } catch (error) {
      if (error instanceof ApiError && error.status !== 0) unanswered = undefined
      throw error
    }
  })
}

/** Sends a message. It is shown immediately, and stays with its error if the server does not accept it. */
export async function sendMessage(page: Page, store: SessionStore, { parts, mode = 'queue', settings }: Draft): Promise<void> {
  const message: PendingMessage = { clientId: crypto.randomUUID(), parts, mode, settings, state: { kind: 'sending' } }
  store.pending.value = [...store.pending.value, message]
  await deliver(page, store, message)
}

/** Sends a message again that was not accepted, under the same id: it is accepted once. */
export async function resendMessage(page: Page, store: SessionStore, clientId: string): Promise<void> {
  const message = store.pending.value.find((each) => each.clientId === clientId)
  if (message) await deliver(page, store, message)
}

export function dropMessage(store: SessionStore, clientId: string): void {
  store.pending.value = store.pending.value.filter((each) => each.clientId !== clientId)
}

async function deliver({ http }: Page, store: SessionStore, { clientId, parts, mode, settings }: PendingMessage): Promise<void> {
  const set = (state: PendingMessage['state']): void => {
    store.pending.value = store.pending.value.map((each) => (each.clientId === clientId ? { ...each, state } : each))
  }
  set({ kind: 'sending' })
  try {
    const receipt = await http.post<ReceiptDocument>(`/v1/sessions/${store.id}/messages`, { input: parts, clientId, mode, ...settings })
    if (!receipt.driven) set({ kind: 'stored', message: receipt.message ?? '', command: receipt.continue?.command })
  } catch (error) {
    set({ kind: 'failed', message: sentenceOf(error) })
  }
}

/** `stop` lets the agent finish with a short answer; `interrupt` ends the turn immediately. */
export const cancelTurn = (page: Page, store: SessionStore, mode: 'stop' | 'interrupt'): Promise<boolean> =>
  request(page, `/v1/sessions/${store.id}/${mode}`)

/** Sends the messages that an interrupt held. */
export const sendHeld = (page: Page, store: SessionStore): Promise<boolean> => request(page, `/v1/sessions/${store.id}/send-held`)

/** A notice says if nothing happens yet. */
const request = (page: Page, path: string): Promise<boolean> =>
  attempt(page, async () => {
    const { driven, message = '', continue: there } = await page.http.post<ReceiptDocument>(path)
    if (!driven) page.notify({ kind: 'info', text: message, remedy: there?.command })
  })

/** `undefined`: it was not accepted, and a notice says why. */
export async function decide(
  page: Page,
  sessionId: string,
  answer: { readonly id: string; readonly decision: ApprovalDecision },
): Promise<ReceiptDocument | undefined> {
  const path = `/v1/sessions/${sessionId}/approvals/${answer.id.split('/').map(encodeURIComponent).join('/')}`
  let receipt: ReceiptDocument | undefined
  await attempt(page, async () => {
    try {
      receipt = await page.http.post<ReceiptDocument>(path, answer.decision)
      if (receipt.first) page.notify({ kind: 'info', text: `Already answered: ${answeredText(receipt.first)}.` })
    } finally {
      void readRequests(page).catch(() => {})
    }
  })
  return receipt
}

export const renameSession = (page: Page, { sessionId }: SessionDocument, title: string): Promise<boolean> =>
  attempt(page, () => page.http.patch(`/v1/sessions/${sessionId}`, { title }))

export const deleteSession = (page: Page, { sessionId }: Pick<SessionDocument, 'sessionId'>): Promise<boolean> =>
  attempt(page, async () => {
    await page.http.delete(`/v1/sessions/${sessionId}`).catch((error: unknown) => {
      // It was deleted before: by a second click, or in another tab.
      if (!(error instanceof ApiError && error.status === 404)) throw error
    })
    if (page.session.value?.id === sessionId) page.go({ view: 'new' })
  })

/** Uses a model that was found, for all agents of the demonstration. */
export const chooseDemoModel = (page: Page, model: string): Promise<boolean> =>
  attempt(page, async () => {
    page.status.value = await page.http.post('/v1/demo/model', { model })
  })

/** Kills the server of the demonstration. Its answer may not arrive. */
export const pullPlug = ({ http }: Page): Promise<unknown> => http.post('/v1/demo/pull-plug').catch(() => undefined)

/** Shows a failure. Returns whether it succeeded: then errors of earlier actions are no longer of interest. */
export async function attempt(page: Page, action: () => Promise<unknown>): Promise<boolean> {
  const earlier = page.notices.value.filter(({ kind }) => kind === 'error')
  try {
    await action()
    for (const { id } of earlier) page.dismiss(id)
    return true
  } catch (error) {
    page.notify({ kind: 'error', text: sentenceOf(error), remedy: error instanceof ApiError ? error.remedy : undefined })
    return false
  }
}

export const sentenceOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
