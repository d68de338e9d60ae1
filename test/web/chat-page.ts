import { readFile } from 'node:fs/promises'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { type Scene, watchPage } from './web-scene.ts'

// The web chat as people and assistive technology find it: by role and name.

export interface Chat {
  readonly page: Page
  readonly context: BrowserContext
  /** Errors of the page, and requests to elsewhere. */
  readonly problems: readonly string[]
  readonly message: Locator
  readonly conversation: Locator
  readonly timeline: Locator
  readonly sessions: Locator
  /** The rows of the timeline. */
  readonly rows: Locator
  /** The row of a call. */
  callRow(name: string): Locator
  button(name: string): Locator
  send(text: string): Promise<void>
  /** Waits until the conversation contains this text. */
  says(text: string | RegExp): Promise<void>
  /** Exports the session, and reads the file. */
  exported(format: 'JSON' | 'HTML'): Promise<string>
  /** Shows a session. */
  show(id: string): Promise<void>
  /** The id of the session that is shown. */
  id(): Promise<string>
  close(): Promise<void>
}

interface OpenOptions extends BrowserContextOptions {
  /** The session to show, or a fragment such as `#/agents`. */
  readonly at?: string
  /** Through another address of the same server. */
  readonly url?: string
  readonly token?: string
  /** Before anything is loaded. */
  prepare?(page: Page): Promise<unknown>
}

type Place = Pick<Scene, 'url' | 'address'>

/** Opens the chat in a browser of its own: another context has other settings and another token. */
export async function openChat(
  browser: Browser,
  scene: Place,
  { at, url = scene.url, token, prepare, ...options }: OpenOptions = {},
): Promise<Chat> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  context.setDefaultTimeout(15_000)
  const chat = chatOf(await context.newPage(), url)
  await prepare?.(chat.page)
  const given = token ?? scene.address.replace(/^.*#token=/, '')
  await chat.page.goto(`${url}/#token=${given}`)
  if (at !== undefined) await chat.page.goto(addressOf(url, at))
  return { ...chat, close: () => context.close() }
}

/** A further tab of the same person. */
export async function openTab({ context }: Pick<Chat, 'context'>, { url }: Pick<Scene, 'url'>, at = '#/'): Promise<Chat> {
  const chat = chatOf(await context.newPage(), url)
  await chat.page.goto(addressOf(url, at))
  return chat
}

const addressOf = (url: string, at: string): string => `${url}/${at.startsWith('#') ? at : `#/sessions/${at}`}`

function chatOf(page: Page, url: string): Chat {
  const problems = watchPage(page, url)
  const conversation = page.getByRole('region', { name: 'Conversation' })
  const timeline = page.getByRole('region', { name: 'Timeline' })
  const rows = timeline.getByRole('tree', { name: 'Operations' }).getByRole('treeitem')
  const message = page.getByRole('textbox', { name: 'Message' })
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true })
  return {
    page,
    context: page.context(),
    problems,
    message,
    conversation,
    timeline,
    sessions: page.getByRole('navigation', { name: 'Sessions' }),
    rows,
    callRow: (name) => rows.and(page.locator('[data-kind="call"]')).filter({ hasText: name }),
    button,
    async send(text) {
      await message.fill(text)
      await button('Send').click()
    },
    says: (text) => conversation.getByText(text).first().waitFor(),
    async exported(format) {
      await button('Export').click()
      const download = page.waitForEvent('download')
      await page.getByRole('menuitem', { name: new RegExp(format) }).click()
      return readFile(await (await download).path(), 'utf8')
    },
    async show(id) {
      await page.goto(addressOf(url, id))
    },
    async id() {
      await page.waitForURL(/#\/sessions\//)
      return decodeURIComponent(/#\/sessions\/([^/]+)/.exec(page.url())?.[1] ?? '')
    },
    close: () => page.close(),
  }
}
