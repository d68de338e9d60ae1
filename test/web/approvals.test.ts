import { afterAll, expect, test } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { openBrowser } from '../browser.ts'
import { openChat } from './chat-page.ts'
import { journalOf, startSession } from './journal.ts'
import { tripAgents, tripStories, webScene } from './web-scene.ts'

// What a request shows, and how it is answered.

const diff = `diff --git a/src/cart.ts b/src/cart.ts
--- a/src/cart.ts
+++ b/src/cart.ts
@@ -1,2 +1,2 @@
-const total = 1
+const total = 2
 export { total }
`
const shell: Tool = {
  name: 'shell',
  description: 'Runs a command.',
  inputSchema: { type: 'object' },
  approval: ({ command }) => ({ summary: `Run ${command}`, keys: [{ key: `command:${command}`, label: String(command) }] }),
  execute: () => 'done',
}
const edit: Tool = {
  name: 'edit_file',
  description: 'Changes a file.',
  inputSchema: { type: 'object' },
  approval: ({ path }) => ({ summary: `Edit ${path}`, keys: [{ key: `path:${path}`, label: String(path) }], diff }),
  execute: () => 'done',
}
const calls = (tool: string, ...inputs: readonly object[]) => inputs.map((input) => ({ tool, input }))
const { trip = [], ...children } = tripStories(0)
const browser = await openBrowser()
const scene = await webScene({
  agents: tripAgents.slice(0, 1).map((agent) => ({ ...agent, agents: [] })),
  tools: [shell, edit],
  stories: {
    ...children,
    trip: [
      { when: /build/, steps: [{ calls: calls('shell', { command: 'rm -rf build && npm install', cwd: '.' }) }, { text: 'Built.' }] },
      { when: /edit/, steps: [{ calls: calls('edit_file', { path: 'src/cart.ts', old_text: '1', new_text: '2' }) }, { text: 'Edited.' }] },
      { when: /input/, steps: [{ calls: calls('shell', { command: 'sh', stdin: 'echo hidden' }) }, { text: 'Ran.' }] },
      ...trip,
    ],
  },
})
afterAll(async () => {
  await browser.close()
  await scene.close()
})

const decisions = async (id: string): Promise<readonly unknown[]> =>
  (await journalOf(scene, id)).flatMap((event) => (event.type === 'interaction.approval.resolved' ? [event.decision] : []))

test('a command is shown once, with its risks; its arguments are folded', async () => {
  const id = await startSession(scene, 'build')
  const chat = await openChat(browser, scene, { at: id })
  const card = chat.conversation.locator('.approval')
  await card.getByText('Run a command').waitFor()
  expect((await card.innerText()).match(/rm -rf build/g)?.length).toBe(1)
  expect(await card.getByRole('listitem').allInnerTexts()).toEqual(['May delete files', 'May use the network', 'In the project folder'])
  expect(await card.getByRole('group', { name: 'Arguments' }).count()).toBe(0)
  await card.getByRole('button', { name: 'Exact arguments' }).click()
  await card.getByRole('group', { name: 'Arguments' }).waitFor()
  await chat.page.getByRole('group', { name: 'Messages' }).focus()
  await chat.page.keyboard.press('d')
  await chat.says('Built.')
  expect(await decisions(id)).toEqual([{ kind: 'deny' }])
  expect(chat.problems).toEqual([])
  await chat.close()
})

test('a diff is shown once; keys allow once, and for longer', async () => {
  for (const isLonger of [false, true]) {
    const id = await startSession(scene, 'edit')
    const chat = await openChat(browser, scene, { at: id })
    const card = chat.conversation.locator('.approval')
    await card.getByText('const total = 2').waitFor()
    expect(await card.getByRole('listitem').allInnerTexts()).toEqual(['In src'])
    expect(await card.getByRole('group', { name: 'Arguments' }).count()).toBe(0)
    await chat.message.fill('you')
    await chat.message.press('y')
    expect(await decisions(id)).toEqual([])
    await chat.page.getByRole('group', { name: 'Messages' }).focus()
    await chat.page.keyboard.press(isLonger ? 'u' : 'y')
    if (isLonger) await chat.page.getByRole('menuitem', { name: 'For this session: src/cart.ts' }).press('Enter')
    await chat.says('Edited.')
    expect(await decisions(id)).toEqual([{ kind: 'approve', breadth: isLonger ? 'session' : 'once' }])
    expect(chat.problems).toEqual([])
    await chat.close()
  }
})

test('arguments that the command does not show are not folded', async () => {
  const chat = await openChat(browser, scene, { at: await startSession(scene, 'input') })
  const card = chat.conversation.locator('.approval')
  await card.getByText('echo hidden').waitFor()
  await chat.button('Allow once').click()
  await chat.says('Ran.')
  await chat.close()
})
