import type { Page } from './page.ts'

/** False: the browser did not allow it, and a notice says so. */
export async function copyToClipboard(page: Pick<Page, 'notify'>, text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Browsers have no clipboard for pages without TLS that come from another machine.
    page.notify({ kind: 'error', text: 'The browser does not allow this page to copy.', remedy: 'Open it over HTTPS or on localhost.' })
    return false
  }
}
