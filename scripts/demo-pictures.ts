// Writes docs/images/demo-NAME-WIDTH-THEME.png: the demonstration as `npm start` opens it, in a real browser. Part of
// `npm run pictures:web`; `node scripts/demo-pictures.ts FOLDER` writes them elsewhere. `npm run build` comes first.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openBrowser } from '../test/browser.ts'
import { type Chat, openChat } from '../test/web/chat-page.ts'
import { demoScene } from '../test/web/demo-scene.ts'

const [folder = join(import.meta.dirname, '../docs/images')] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })

const [browser, scene] = await Promise.all([openBrowser(), demoScene()])
const patience = { timeout: 30_000 }

async function take(name: string, at: string, ready: (chat: Chat) => Promise<unknown>): Promise<void> {
  for (const width of [1440, 900, 390])
    for (const colorScheme of ['light', 'dark'] as const) {
      const isPhone = width === 390
      const chat = await openChat(browser, scene, {
        at,
        viewport: { width, height: isPhone ? 844 : 900 },
        isMobile: isPhone,
        hasTouch: isPhone,
        colorScheme,
        reducedMotion: 'reduce',
        timezoneId: 'UTC',
      })
      await ready(chat)
      await chat.page.evaluate('document.fonts.ready')
      await chat.page.waitForTimeout(500)
      await chat.page.screenshot({ path: join(folder, `demo-${name}-${width}-${colorScheme}.png`), animations: 'disabled', caret: 'hide' })
      await chat.close()
    }
}

const button = ({ page }: Chat, name: string | RegExp) => page.getByRole('button', { name }).first()
const allow = /^(?:Approve|Allow once)$/

/** Starts a flow, and returns the address of its session. */
async function start(title: string, until: (chat: Chat) => Promise<unknown>): Promise<string> {
  const chat = await openChat(browser, scene)
  await button(chat, title).click()
  await until(chat)
  const id = await chat.id()
  await chat.close()
  return id
}

const hasEnded = ({ page }: Chat) => page.getByText('See what the model saw').waitFor(patience)
const budget = await start('Spend no more than 5 cents', hasEnded)
await take('start', '#/new', (chat) => button(chat, 'Pull the plug').waitFor())
const fix = await start('Fix the failing checkout test', (chat) => button(chat, allow).waitFor(patience))
await take('approval', fix, (chat) => button(chat, allow).waitFor())
const chat = await openChat(browser, scene, { at: fix })
await button(chat, allow).click()
await hasEnded(chat)
await chat.close()
await take('fixed', fix, hasEnded)
await take('budget', budget, hasEnded)
await browser.close()
await scene.end()
