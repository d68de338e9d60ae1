import { afterAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { openChat } from './chat-page.ts'
import { guard, hostileAgents, hostileTools, openDocument, openEverything, ownAddresses, repeatingModel } from './hostile-scene.ts'
import { hostileName, hostileTexts } from './hostile-texts.ts'
import { startSession, statusOf } from './journal.ts'
import { webScene } from './web-scene.ts'

// Nothing that a message, a model, a tool or a name contains is executed or requested.

const scene = await webScene({ agents: hostileAgents, tools: hostileTools, model: repeatingModel })
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
})

const isOwn = ownAddresses(scene)

test('messages, answers, reasoning, tool names, arguments, output, errors: live and after a reload', async () => {
  const id = await startSession(scene, hostileTexts[0] ?? '', 'mallory')
  const chat = await openChat(browser, scene, { at: id })
  const watched = await guard(chat.page, isOwn)
  for (const input of [...hostileTexts.slice(1), `break: ${hostileTexts.join('\n\n')}`])
    await scene.fetch(`/v1/sessions/${id}/messages`, { json: { input } })
  await expect.poll(() => statusOf(scene, id), { timeout: 40_000 }).toBe('failed')
  await chat.says('toString')
  await openEverything(chat.page)
  expect(await watched.check()).toEqual([])
  await chat.page.reload()
  await chat.says('toString')
  await openEverything(chat.page)
  expect(await watched.check()).toEqual([])
  await chat.rows.first().click()
  for (const key of ['ArrowDown', 'Enter', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown']) await chat.page.keyboard.press(key)
  expect(await watched.check()).toEqual([])
  expect(await openDocument(browser, await chat.exported('HTML'))).toEqual([])
  await chat.close()
})

test('approvals, questions, plans, diffs, children, titles, names of agents', async () => {
  const texts = hostileTexts.filter((_, index) => index % 3 === 0)
  const ids = await Promise.all(texts.map((text) => startSession(scene, `ask: ${text}`, 'mallory')))
  for (const id of ids) await scene.fetch(`/v1/sessions/${id}`, { method: 'PATCH', body: JSON.stringify({ title: hostileName }) })
  const [first = ''] = ids
  const chat = await openChat(browser, scene, { at: first })
  const watched = await guard(chat.page, isOwn)
  await chat.button('Allow once').first().waitFor()
  await openEverything(chat.page)
  expect(await watched.check()).toEqual([])
  for (const place of ['approvals', 'agents', 'agents/mallory', 'new/mallory', 'settings', 'extensions']) {
    await chat.page.goto(`${scene.url}/#/${place}`)
    await chat.page.getByRole('main').getByRole('heading').first().waitFor()
    await openEverything(chat.page)
    expect(await watched.check(), place).toEqual([])
  }
  await chat.page.keyboard.press('Control+k')
  await chat.page.getByRole('dialog', { name: 'Commands' }).waitFor()
  await chat.page.keyboard.type('img')
  expect(await watched.check()).toEqual([])
  await chat.close()
})

test('addresses of the page', async () => {
  const chat = await openChat(browser, scene)
  const watched = await guard(chat.page, isOwn)
  const names = [hostileName, `javascript:alert(1)`, '%', '%00', '../../v1/tokens', '__proto__', 'constructor']
  for (const view of ['sessions', 'agents', 'new', 'x'])
    for (const name of names) await chat.page.goto(`${scene.url}/#/${view}/${view === 'x' ? name : encodeURIComponent(name)}`)
  await chat.page.goto(`${scene.url}/#token=${encodeURIComponent(hostileName)}`)
  expect(await watched.check()).toEqual([])
  await chat.close()
})

test('files that are attached and downloaded', async () => {
  const data = Buffer.from('<script>pwned=1;alert(1)</script>').toString('base64')
  const response = await scene.fetch('/v1/sessions', {
    json: {
      agent: 'mallory',
      input: [
        { type: 'text', text: 'Look at these.' },
        { type: 'file', mediaType: 'text/html', data, name: hostileName },
        {
          type: 'image',
          mediaType: 'image/svg+xml',
          data: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>').toString('base64'),
        },
        { type: 'image', mediaType: 'image/png', data: 'https://evil.example/pixel.png' },
      ],
    },
  })
  const { sessionId } = (await response.json()) as { readonly sessionId: string }
  const chat = await openChat(browser, scene, { at: sessionId })
  const watched = await guard(chat.page, isOwn)
  await chat.says('Look at these.')
  await openEverything(chat.page)
  expect(await watched.check()).toEqual([])
  await chat.close()
})
