import { effect, untracked } from '@preact/signals'
import type { SessionDocument } from '../api/documents.ts'
import type { Page } from './page.ts'
import { sessionNews } from './session-news.ts'

// Desktop notifications: only if a person chose them, and only while the page is hidden.

/** Whether the browser can show them, and lets this page. */
export type NotificationAbility = 'granted' | 'default' | 'denied' | 'missing'

/** Browsers without a secure connection have no such interface, or refuse. */
export const notificationAbility = (): NotificationAbility =>
  typeof Notification === 'undefined' || !isSecureContext ? 'missing' : Notification.permission

/** Asks the browser, which asks the person. Only after a click: browsers refuse anything else. */
export async function askToNotify(): Promise<NotificationAbility> {
  if (notificationAbility() !== 'default') return notificationAbility()
  try {
    return await Notification.requestPermission()
  } catch {
    return 'denied'
  }
}

/** Runs as long as the page. */
export function notify(page: Page): void {
  let before: ReadonlyMap<string, SessionDocument> | undefined
  effect(() => {
    const { value: sessions } = page.sessions
    untracked(() => {
      if (page.status.value === undefined) return
      const known = before
      before = new Map(sessions.map((session) => [session.sessionId, session]))
      if (!known || !page.settings.value.notifies || document.visibilityState === 'visible' || notificationAbility() !== 'granted') return
      for (const session of sessions) {
        const news = sessionNews(known.get(session.sessionId), session)
        if (news !== undefined) show(page, session, news)
      }
    })
  })
}

function show({ go }: Page, { sessionId, title, agent }: SessionDocument, body: string): void {
  try {
    // Of several tabs, the last one replaces what the others have shown.
    const notification = new Notification(title.slice(0, 100) || agent, { body, tag: `troupe ${sessionId}` })
    notification.onclick = () => {
      window.focus()
      go({ view: 'session', id: sessionId })
      notification.close()
    }
  } catch {
    // Browsers of phones have the interface, and show nothing.
  }
}
