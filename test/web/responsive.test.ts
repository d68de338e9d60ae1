import { afterAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { type Chat, openChat } from './chat-page.ts'
import { guard, hostileAgents, hostileTools, openEverything, ownAddresses, repeatingModel } from './hostile-scene.ts'
import { startSession, statusOf } from './journal.ts'
import { webScene } from './web-scene.ts'

// No text takes the page long: each of these would take the parser, the layout or a text field seconds.

const attack = '<img src=x-evil onerror="pwned=1;alert(1)">'
const lines = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('\n')
const row = (cells: number): string => `|${'a|'.repeat(cells)}`

/** Texts of 100 to 200 KB. */
const texts: { readonly [name: string]: string } = {
  'definitions of links': lines(4_200, (index) => `see [a${index}]\n\n[a${index}]: https://example.org/\n`),
  'a table of 80,000 cells': `${row(10)}\n|${'-|'.repeat(10)}\n${lines(8_000, () => row(10))}`,
  'many paragraphs': 'a\n\n'.repeat(40_000),
  'marks at the limit of a block': [
    `${'_a_'.repeat(1_130)}\n\n`.repeat(20),
    `${'__a)'.repeat(980)}\n\n`.repeat(10),
    `1.漢\n${`  ]~${'word and '.repeat(16)}\n`.repeat(225)}\n`,
  ].join('\n\n'),
  'a wide table, spaces, tasks and carriage returns': [
    `${row(10_000)}\n|${'-|'.repeat(10_000)}\n${lines(5_000, () => '|x')}`,
    `a${' '.repeat(60_000)}b`,
    '- [ ] a\n'.repeat(4_000),
    '\r'.repeat(30_000),
  ].join('\n\n'),
}

const scene = await webScene({ agents: hostileAgents, tools: hostileTools, model: repeatingModel })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
})

const observe = `globalThis.longest = 0
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) globalThis.longest = Math.max(globalThis.longest, Math.round(duration))
}).observe({ type: 'longtask', buffered: true })`
/** When nothing is left to do, as far as a page can know. */
const settled = 'new Promise((resolve) => requestAnimationFrame(() => requestIdleCallback(resolve)))'
/** A quiet machine needs a fifth of it. */
const limitMs = 1_000
const maxElements = 50_000

async function open(): Promise<Chat> {
  const chat = await openChat(browser, scene, { prepare: (page) => page.addInitScript(observe) })
  await chat.message.waitFor()
  return chat
}

/** Shows a session with this message when its turn has ended. */
async function show(chat: Chat, text: string): Promise<void> {
  const id = await startSession(scene, text, 'mallory')
  await chat.show(id)
  await expect.poll(() => statusOf(scene, id), { timeout: 20_000 }).toBe('completed')
  await chat.conversation.locator('.turn-foot').getByRole('button', { name: 'Retry' }).waitFor()
}

async function isResponsive({ page }: Chat): Promise<void> {
  await page.evaluate(settled)
  expect(Number(await page.evaluate('document.querySelectorAll("*").length'))).toBeLessThan(maxElements)
  expect(Number(await page.evaluate('globalThis.longest'))).toBeLessThan(limitMs)
}

test.each(Object.entries(texts))('%s: message, reasoning, answer, input, output and timeline', async (_, text) => {
  const chat = await open()
  const watched = await guard(chat.page, ownAddresses(scene))
  await show(chat, `Begin\n\n${text}\n\n${attack} The end.`)
  await isResponsive(chat)
  await openEverything(chat.page)
  await isResponsive(chat)
  await chat.rows.first().click()
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown']) await chat.page.keyboard.press(key)
  await chat.button('Raw').click()
  await isResponsive(chat)
  expect(await watched.check()).toEqual([])
  await chat.close()
})

test('requests for approval and errors', async () => {
  const chat = await open()
  const watched = await guard(chat.page, ownAddresses(scene))
  for (const text of ['a table of 80,000 cells', 'many paragraphs'].map((name) => `${texts[name]}${attack}`)) {
    await chat.show(await startSession(scene, `ask: ${text}`, 'mallory'))
    await chat.button('Allow once').waitFor()
    await openEverything(chat.page)
    await isResponsive(chat)
    await chat.show(await startSession(scene, `break: ${text}`, 'mallory'))
    await chat.says('Failed')
    await isResponsive(chat)
  }
  expect(await watched.check()).toEqual([])
  await chat.close()
})

test('what is not formatted is complete behind its button, and safe', async () => {
  const chat = await open()
  const watched = await guard(chat.page, ownAddresses(scene))
  const whole = `Before it.\n\n${texts['a table of 80,000 cells']}\n${attack}THE-END\n\n**After it.**`
  await show(chat, whole)
  const answer = chat.conversation.locator('.md').last()
  await answer.locator('strong', { hasText: 'After it.' }).waitFor()
  await answer.getByText('Too large to format: shown as plain text.').waitFor()
  expect(await answer.locator('table').count()).toBe(0)
  expect((await answer.innerText()).length).toBeLessThan(25_000)
  await answer.getByRole('button', { name: /^Show/ }).click()
  await expect.poll(() => answer.innerText()).toContain(`${attack}THE-END`)
  expect((await answer.innerText()).split('|a').length - 1).toBe(80_010)

  await show(chat, texts['many paragraphs'] ?? '')
  const blocks = chat.conversation.locator('.md').last().locator('.md-block')
  const more = chat.button('Format more').last()
  await more.waitFor()
  const before = await blocks.count()
  await more.click()
  await expect.poll(() => blocks.count(), { timeout: 10_000 }).toBeGreaterThan(before)
  expect(await chat.exported('HTML')).toContain('<p>a</p>')
  await isResponsive(chat)
  expect(await watched.check()).toEqual([])
  await chat.close()
})

test('ordinary text is formatted: a long paragraph, and 100 references at the end', async () => {
  const chat = await open()
  const prose = `A **long** paragraph with \`code\`. ${'Ordinary words, (some) "quoted", of a long text. '.repeat(900)}`
  const numbers = Array.from({ length: 100 }, (_, index) => index + 1)
  const references = numbers.map((each) => `[${each}]: https://example.org/${'a_page/'.repeat(12)}${each} "Title"`).join('\n')
  const whole = `${prose}\n\n${numbers.map((each) => `- **Fact** [${each}]`).join('\n')}\n\nSources:\n\n${references}`
  await show(chat, whole)
  const answer = chat.conversation.locator('.md').last()
  await expect.poll(() => answer.locator('a[href^="https://example.org/"]').count()).toBe(100)
  // Blocks are formatted as there is time.
  await expect.poll(() => answer.locator('.md-plain').count()).toBe(0)
  expect(await answer.locator('strong').count()).toBe(101)
  expect(await answer.innerText()).not.toContain(']:')
  expect(await chat.exported('HTML')).toContain('>100</a></li>')
  await isResponsive(chat)
  await chat.close()
})

test('a text of five megabytes that is typed by a program, and edited', async () => {
  const chat = await open()
  await chat.message.focus()
  await chat.page.keyboard.insertText('Words of a long text.\n'.repeat(240_000))
  await chat.page.getByText('Pasted text').waitFor()
  expect(await chat.message.inputValue()).toBe('')
  await chat.message.pressSequentially('hello')
  await chat.button('Send').click()
  await chat.conversation.getByRole('button', { name: 'Retry' }).last().waitFor()
  await isResponsive(chat)
  await chat.conversation.locator('.said').first().hover()
  await chat.button('Edit').first().click()
  expect(await chat.page.getByRole('textbox', { name: 'Edit message' }).inputValue()).toBe('')
  await isResponsive(chat)
  await chat.close()
})
