import { effect } from '@preact/signals'
import { answerable } from './continuation.ts'
import type { Page } from './page.ts'

const everyMs = 500

/** Moves the clock of the page while something runs, and shows in the title how many requests a person can answer. */
export function tick(page: Page): void {
  let timer: ReturnType<typeof setInterval> | undefined
  effect(() => {
    const isBusy = page.sessions.value.some(({ status }) => status === 'running')
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
