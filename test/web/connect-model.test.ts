import { afterAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { type ModelScene, modelScene, rightKey } from '../server/model-scene.ts'
import { violations } from './axe.ts'
import { type Chat, openChat } from './chat-page.ts'
import { picture } from './pictures.ts'

// A person who has no model connects one in the page, and uses it.

const browser = await openBrowser()
afterAll(() => browser.close())

const open = (scene: ModelScene, options: Parameters<typeof openChat>[2] = {}): Promise<Chat> =>
  openChat(browser, { url: scene.url, address: `${scene.url}/#token=${scene.server.token.token}` }, options)

test('the page begins with it; wrong keys are explained, the right one is used, and is nowhere in the page', async () => {
  const scene = await modelScene()
  const chat = await open(scene)
  const { page } = chat
  await page.getByRole('heading', { name: 'Connect a model' }).waitFor()
  await page.getByText('No model can be used yet. Your agents need openrouter/anthropic/claude-sonnet-5').waitFor()
  await page.getByText('Ollama', { exact: true }).waitFor()
  await picture(chat, 'connect-first')
  const field = page.getByLabel('Key', { exact: true })
  expect(await field.getAttribute('type')).toBe('password')
  const connect = (): Promise<void> => chat.button('Test and connect').click()

  await field.focus()
  await page.keyboard.press('Enter')
  await page.getByText('The key is empty.').waitFor()
  await field.fill('a key with blanks')
  await connect()
  await page.getByText('This is no key: it has blanks in it.').waitFor()
  await field.fill('sk-or-v1-wrong-012345')
  await connect()
  await page.getByText(/^OpenRouter \(127.0.0.1:\d+\) does not accept this key\. Nothing was stored\.$/).waitFor()
  await picture(chat, 'connect-rejected')

  await field.fill(`"${rightKey}"`)
  await page.getByLabel('Provider').selectOption('Anthropic')
  await connect()
  await page.getByText('This looks like a key of OpenRouter, not of Anthropic. Nothing was sent.').waitFor()
  await picture(chat, 'connect-other')
  expect(scene.provider.requests).toHaveLength(1)
  await chat.button('Use it for OpenRouter').click()
  await page.getByText('OpenRouter is connected.').waitFor()
  await page.getByText('Ready to use').waitFor()
  await picture(chat, 'connect-done')
  expect(await field.inputValue()).toBe('')
  const kept = await page.evaluate('JSON.stringify([document.documentElement.outerHTML, { ...localStorage }, { ...sessionStorage }])')
  expect(kept).not.toContain(rightKey)

  await page.getByRole('button', { name: 'Use openrouter/anthropic/claude-sonnet-5' }).first().click()
  await chat.send('Hello')
  await chat.says('Connected.')
  expect(chat.problems.filter((problem) => !/status of 400/.test(problem))).toEqual([])
  await chat.close()
})

test('the menu of the message offers connected models, and the turn uses the chosen one', async () => {
  const scene = await modelScene({ env: { OPENROUTER_API_KEY: rightKey, OPENAI_API_KEY: 'sk-right-12345' } })
  const chat = await open(scene)
  const menu = chat.page.getByRole('button', { name: 'Model: claude-sonnet-5' })
  await menu.click()
  await picture(chat, 'model-menu')
  const items = chat.page.getByRole('menu', { name: 'Model' }).getByRole('menuitemradio')
  expect(await items.allInnerTexts()).toEqual([
    'openrouter/anthropic/claude-sonnet-5',
    expect.stringMatching(/^openai\/gpt-5\.4-mini\s*OPENAI_API_KEY$/),
  ])
  expect(await items.first().getAttribute('aria-checked')).toBe('true')
  // With the keyboard.
  await chat.page.keyboard.press('ArrowDown')
  await chat.page.keyboard.press('Enter')
  await chat.page.getByRole('button', { name: 'Model: gpt-5.4-mini' }).waitFor()
  const sent = chat.page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/v1/sessions'))
  await chat.send('Hello')
  expect((await sent).postDataJSON()).toMatchObject({ models: ['openai/gpt-5.4-mini'] })
  await chat.page.getByRole('button', { name: 'Model: gpt-5.4-mini' }).waitFor()
  await chat.page.getByRole('button', { name: 'Model: gpt-5.4-mini' }).click()
  await chat.page.getByRole('menuitem', { name: 'Connect a model…' }).click()
  await chat.page.getByText('Agents use their own models.').waitFor()
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('what is connected elsewhere is offered nowhere: another token sees no page for it', async () => {
  const scene = await modelScene()
  const chat = await open(scene, { token: scene.adminToken })
  await chat.message.waitFor()
  expect(await chat.page.getByText('Connect a model').count()).toBe(0)
  await chat.page.goto(`${scene.url}/#/connect`)
  await chat.page.getByText('Models are connected on the machine of the server only').waitFor()
  expect(await chat.page.getByLabel('Key', { exact: true }).count()).toBe(0)
  await chat.close()
})

test('axe finds nothing', async () => {
  const scene = await modelScene()
  const chat = await open(scene, { bypassCSP: true })
  await chat.page.getByText('Ollama', { exact: true }).waitFor()
  await chat.button('Test and connect').click()
  await chat.page.getByText('The key is empty.').waitFor()
  expect(await violations(chat.page)).toEqual([])
  await chat.page.getByLabel('Key', { exact: true }).fill(rightKey)
  await chat.button('Test and connect').click()
  await chat.page.getByText('OpenRouter is connected.').waitFor()
  expect(await violations(chat.page)).toEqual([])
  await chat.page.goto(`${scene.url}/#/new`)
  await chat.page.getByRole('button', { name: 'Model: claude-sonnet-5' }).click()
  expect(await violations(chat.page)).toEqual([])
  await chat.close()
})
