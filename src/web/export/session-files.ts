import type { SessionExport } from '../../contracts/index.ts'
import { type FormattedText, formatText, tagsAtOnce } from '../markdown/format-text.ts'
import { sanitised } from '../markdown/markdown.tsx'
import { whenTime } from '../markdown/work-budget.ts'
import { attempt } from '../state/actions.ts'
import { copyToClipboard } from '../state/clipboard.ts'
import { isEmptyDraft, openDraft, partsOf } from '../state/drafts.ts'
import { download } from '../state/outputs.ts'
import type { Page } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { turnSettings } from '../state/turn-settings.ts'
import { curlCommand } from './curl-command.ts'
import { escaped, sessionHtml } from './session-html.ts'

// What people take out of the page: files and texts for the clipboard.

/** `html` is one file with the whole conversation that needs neither this server nor scripts. */
export const exportSession = (page: Page, sessionId: string, format: 'json' | 'html'): Promise<boolean> =>
  attempt(page, async () => {
    const blob = await page.http.blob(`/v1/sessions/${sessionId}/export`)
    const name = `session-${sessionId.replaceAll(/[^\w-]/g, '_')}`
    if (format === 'json') return download(blob, `${name}.json`)
    const session = JSON.parse(await blob.text()) as SessionExport
    const texts = new Map<string, string>()
    sessionHtml(session, { markdown: (text) => `${texts.set(text, '').size}` })
    for (const text of texts.keys()) texts.set(text, await staticMarkdown(text))
    const html = sessionHtml(session, { markdown: (text) => texts.get(text) ?? '' })
    download(new Blob([html], { type: 'text/html' }), `${name}.html`)
  })

/** Takes as much of the time as the page. Nothing copies code in a file without scripts. */
async function staticMarkdown(text: string): Promise<string> {
  let known: FormattedText | undefined
  do {
    if (known) await new Promise<void>(whenTime)
    known = formatText(text, { isOpen: false, maxTags: tagsAtOnce, sanitise: sanitised }, known)
  } while (known.state === 'waits')
  const plain = (rest: string): string => (rest === '' ? '' : `<pre>${escaped(rest)}</pre>`)
  const blocks = known.blocks.map(({ html, of }) => (html === undefined ? plain(of.own) : String(html)))
  return `${blocks.join('')}${plain(known.rest)}`.replaceAll(/<button[^>]*>[^<]*<\/button>/g, '')
}

/** The draft as a command, or the last message if nothing is written. */
export function copyAsCurl(page: Page, store: SessionStore): Promise<void> {
  const { value: draft } = openDraft(store.id)
  const parts = isEmptyDraft(draft) ? (store.root?.messages.at(-1)?.parts ?? []) : partsOf(draft)
  const { command, isShortened } = curlCommand({
    origin: `${location.origin}${location.pathname.replace(/\/[^/]*$/, '')}`,
    sessionId: store.id,
    parts,
    settings: turnSettings(draft.settings),
  })
  return copyText(page, command, isShortened ? 'Copied without attachments. Set TOKEN in your shell.' : 'Copied. Set TOKEN in your shell.')
}

/** `said`: the notice if it worked. */
export async function copyText(page: Page, text: string, said: string): Promise<void> {
  if (await copyToClipboard(page, text)) page.notify({ kind: 'info', text: said })
}
