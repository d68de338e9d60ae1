import type { SessionExport } from '../../contracts/index.ts'
import { curlCommand } from '../export/curl-command.ts'
import { escaped, sessionHtml } from '../export/session-html.ts'
import { longestMarkdown, sanitised } from '../markdown/markdown.tsx'
import { markdownHtml } from '../markdown/markdown-html.ts'
import { attempt } from './actions.ts'
import { copyToClipboard } from './clipboard.ts'
import { isEmptyDraft, openDraft, partsOf } from './drafts.ts'
import { download } from './outputs.ts'
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
  return copyText(
    page,
    command,
    isShortened ? 'Copied without attachments. Set TROUPE_TOKEN in your shell.' : 'Copied. Set TROUPE_TOKEN in your shell.',
  )
}

/** `said`: the notice if it worked. */
export async function copyText(page: Page, text: string, said: string): Promise<void> {
  if (await copyToClipboard(page, text)) page.notify({ kind: 'info', text: said })
}
