import { effect } from '@preact/signals'
import { answerable } from './continuation.ts'
import type { Page } from './page.ts'

const everyMs = 500

/** Moves the clock of the page while something runs or the session that is shown waits, and shows in the title how many requests a person can answer. */
export function tick(page: Page): void {
  let timer: ReturnType<typeof setInterval> | undefined
  effect(() => {
    const { value: route } = page.route
    const shown = route.view === 'session' ? route.id : undefined
    const isBusy = page.sessions.value.some(
      ({ status, sessionId }) => status === 'running' || (status === 'suspended' && sessionId === shown),
    )
    if (isBusy === (timer !== undefined)) return
    clearInterval(timer)
    timer = isBusy
      ? setInterval(() => {
          page.now.value = Date.now()
        }, everyMs)
      : undefined
    page.now.value = Date.now()
  })
  effect(() => {
    const { length } = answerable(page)
    const { value: route } = page.route
    const shown = route.view === 'session' ? page.sessions.value.find(({ sessionId }) => sessionId === route.id)?.title : undefined
    document.title = `${length > 0 ? `(${length}) ` : ''}${shown ? `${shown} · ` : ''}Troupe`
  })
}
