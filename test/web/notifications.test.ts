import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { askUserTool } from '../../src/tools/builtin/ask-user.ts'
import { openBrowser } from '../browser.ts'
import { violations } from './axe.ts'
import { type Chat, openChat } from './chat-page.ts'
import { startSession } from './journal.ts'
import { picture } from './pictures.ts'
import { webScene } from './web-scene.ts'

// The desktop tells of sessions, if a person wants that. What a person wrote is visible without opening a call.

const edit: Tool = {
  name: 'edit',
  description: 'Edits a file.',
  inputSchema: { type: 'object', properties: {} },
  approval: ({ path = 'cart.ts' }) => ({ summary: `Edit ${path}`, keys: [{ key: `path:${path}`, label: String(path) }] }),
  execute: () => 'Edited.',
}
const scene = await webScene({
  agents: [{ name: 'trip', description: 'Plans.', prompt: 'You are trip.', model: 'test/story', tools: ['*'] }],
  tools: [edit, askUserTool()],
  stories: {
    trip: [
      { when: /edit/, steps: [{ calls: [{ tool: 'edit' }] }, { text: 'I see.' }] },
      {
        when: /five/,
        steps: [
          ...Array.from({ length: 5 }, (_, index) => ({ calls: [{ tool: 'edit', input: { path: `${index}.ts` } }] })),
          { text: 'I see all of them.' },
        ],
      },
      { when: /ask/, steps: [{ calls: [{ tool: 'ask_user', input: { question: 'Which city?' } }] }, { text: 'Thank you.' }] },
      { steps: [{ text: 'Hello.' }] },
    ],
  },
})
const browser = await openBrowser()
afterAll(async () => {
  await browser.close()
  await scene.close()
})

/** The page is hidden when a test says so, and keeps what it would show: a test cannot click on the desktop. */
const watched =
  (permission: string, answer = permission) =>
  (page: Page) =>
    page.addInitScript(
      ([now, next]) => {
        const shown: object[] = []
        class Shown {
          static permission = now
          static asked = 0
          static async requestPermission() {
            Shown.asked++
            Shown.permission = next
            return next
          }
          onclick: (() => void) | undefined
          readonly text: string
          constructor(title: string, { body }: { readonly body: string }) {
            this.text = `${title}: ${body}`
            shown.push(this)
          }
          close() {}
        }
        let visibility = 'visible'
        Object.defineProperty(Reflect.get(globalThis, 'document'), 'visibilityState', { get: () => visibility })
        Object.assign(globalThis, {
          Notification: Shown,
          shown,
          hide: (isHidden: boolean) => (visibility = isHidden ? 'hidden' : 'visible'),
        })
      },
      [permission, answer] as const,
    )

/** Answers so many requests of a session, one after the other. */
async function answerAll(id: string, count: number, decide: (index: number) => object): Promise<void> {
  const open = async (): Promise<readonly { readonly id: string }[]> => {
    const answer = (await (await scene.fetch(`/v1/sessions/${id}/approvals`)).json()) as {
      readonly approvals: readonly { readonly id: string }[]
    }
    return answer.approvals
  }
  const answered = new Set<string>()
  for (let index = 0; index < count; index++) {
    await expect.poll(async () => (await open()).filter((each) => !answered.has(each.id)).length, { timeout: 10_000 }).toBeGreaterThan(0)
    const [request] = (await open()).filter((each) => !answered.has(each.id))
    answered.add(request?.id ?? '')
    expect((await scene.fetch(`/v1/sessions/${id}/approvals/${request?.id}`, { json: decide(index) })).status).toBe(202)
  }
}

const box = ({ page }: Chat) => page.getByRole('checkbox', { name: /^Desktop notifications/ })
const shown = ({ page }: Chat): Promise<readonly string[]> => page.evaluate('shown.map(({ text }) => text)')

test('they are asked for on a click only, come while the page is hidden only, and open the session', async () => {
  const chat = await openChat(browser, scene, { at: '#/settings', prepare: watched('default', 'granted') })
  await box(chat).waitFor()
  expect([await chat.page.evaluate('Notification.asked'), await box(chat).isChecked()]).toEqual([0, false])
  await box(chat).click()
  await chat.page.getByText('A click opens the session.').waitFor()
  expect([await chat.page.evaluate('Notification.asked'), await box(chat).isChecked()]).toEqual([1, true])
  await picture(chat, 'notifications')

  await startSession(scene, 'edit while I look')
  await chat.sessions.getByText('needs your decision').waitFor()
  expect(await shown(chat)).toEqual([])

  await chat.page.evaluate('hide(true)')
  const id = await startSession(scene, 'edit it now')
  await expect.poll(() => shown(chat)).toEqual(['edit it now: Needs your decision.'])
  await answerAll(id, 1, () => ({ kind: 'deny' }))
  await expect.poll(() => shown(chat)).toEqual(['edit it now: Needs your decision.', 'edit it now: Has ended.'])
  await chat.page.evaluate('shown[0].onclick()')
  expect(await chat.id()).toBe(id)

  expect(chat.problems).toEqual([])
  await chat.close()
})

test('the choice stays after a reload, and can be taken back', async () => {
  const chat = await openChat(browser, scene, { at: '#/settings', prepare: watched('granted') })
  await box(chat).click()
  await chat.page.reload()
  await expect.poll(() => box(chat).isChecked()).toBe(true)
  await box(chat).click()
  await chat.page.reload()
  await box(chat).waitFor()
  expect(await box(chat).isChecked()).toBe(false)
  await chat.page.evaluate('hide(true)')
  await startSession(scene, 'edit quietly')
  await chat.sessions.getByText('edit quietly').waitFor()
  expect(await shown(chat)).toEqual([])
  expect(await violations((await openChat(browser, scene, { at: '#/settings', bypassCSP: true })).page)).toEqual([])
  await chat.close()
})

test('the page says that the browser denies them', async () => {
  const chat = await openChat(browser, scene, { at: '#/settings', prepare: watched('default', 'denied') })
  await box(chat).click()
  await chat.page.getByText('The browser blocks notifications of this page.').waitFor()
  expect(await box(chat).isChecked()).toBe(false)
  await chat.close()
})

test('reasons of denials and answers are visible without opening a call, also among many calls', async () => {
  const id = await startSession(scene, 'edit this')
  const chat = await openChat(browser, scene, { at: id })
  await chat.page.getByPlaceholder('Reason (optional)').fill('Only after the release.')
  await chat.button('Deny').click()
  await chat.says('I see.')
  await chat.conversation.locator('.call-words').getByText('Denied by local: Only after the release.').waitFor()
  await picture(chat, 'denied')

  const many = await startSession(scene, 'five changes')
  await chat.show(many)
  await answerAll(many, 5, (index) => ({ kind: 'deny', feedback: `Reason ${index}` }))
  await chat.says('I see all of them.')
  for (const index of [0, 1, 2, 3, 4]) await chat.conversation.locator('.call-words').getByText(`Reason ${index}`).waitFor()

  const asking = await startSession(scene, 'ask me')
  await chat.show(asking)
  await answerAll(asking, 1, () => ({ kind: 'answer', text: 'Bergen, in May' }))
  await chat.says('Thank you.')
  await chat.conversation.locator('.call-words').getByText('Answer by local: Bergen, in May').waitFor()
  expect(chat.problems).toEqual([])
  await chat.close()
})
