import type { SessionExport } from '../../contracts/index.ts'
import { curlCommand } from '../export/curl-command.ts'
import { escaped, sessionHtml } from '../export/session-html.ts'
import { longestMarkdown, sanitised } from '../markdown/markdown.tsx'
import { markdownHtml } from '../markdown/markdown-html.ts'
import { attempt } from './actions.ts'
import { isEmptyDraft, openDraft, partsOf } from './drafts.ts'
import type { Page } from './page.ts'
import type { SessionStore } from './session-store.ts'
import { turnSettings } from './turn-settings.ts'

// What people take out of the page: files and texts for the clipboard.

/** `html` is one file with the whole conversation that needs neither this server nor scripts. */
export const exportSession = (page: Page, sessionId: string, format: 'json' | 'html'): Promise<boolean> =>
  attempt(page, async () => {
    const blob = await page.http.blob(`/v1/sessions/${sessionId}/export`)
    const name = `session-${sessionId.replaceAll(/[^\w-]/g, '_')}`
    if (format === 'json') return download(blob, `${name}.json`)
    const html = sessionHtml(JSON.parse(await blob.text()) as SessionExport, { markdown: staticMarkdown })
    download(new Blob([html], { type: 'text/html' }), `${name}.html`)
  })

/** Nothing copies code in a file without scripts. */
const staticMarkdown = (text: string): string =>
  text.length > longestMarkdown
    ? `<pre>${escaped(text)}</pre>`
    : String(sanitised(markdownHtml(text))).replaceAll(/<button[^>]*>[^<]*<\/button>/g, '')

function download(blob: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  // The browser reads it after this task.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** The draft as a command, or the last message if nothing is written. */
export function copyAsCurl(page: Page, store: SessionStore): Promise<void> {
  const { value: draft } = openDraft(store.id)
  const parts = isEmptyDraft(draft) ? (store.root?.messages.at(-1)?.parts ?? []) : partsOf(draft)
  const { command, isShortened } = curlCommand({
    origin: location.origin,
    sessionId: store.id,
    parts,
    settings: turnSettings(draft.settings),
  })
  return copyText(page, command, isShortened ? 'Copied, without attachments' : 'Copied. The shell needs TROUPE_TOKEN')
}

/** `said`: the notice if it worked. */
export async function copyText(page: Page, text: string, said: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    page.notify({ kind: 'info', text: said })
  } catch {
    page.notify({ kind: 'error', text: 'The browser does not allow this page to copy.', remedy: 'Open it over https or on localhost.' })
  }
}
