import type { ExtensionStatus } from '../api/documents.ts'
import type { Page } from './page.ts'

const everyMs = 3_000

/** Reads the extensions again and again while the page is visible. Returns a function that ends it. */
export function watchExtensions({ http, extensions }: Page): () => void {
  let isWatching = true
  const read = async (): Promise<void> => {
    if (document.visibilityState !== 'visible') return
    const answer = await http.get<{ readonly extensions: readonly ExtensionStatus[] }>('/v1/extensions').catch(() => undefined)
    if (answer && isWatching) extensions.value = answer.extensions
  }
  void read()
  const timer = setInterval(() => void read(), everyMs)
  return () => {
    isWatching = false
    clearInterval(timer)
  }
}
