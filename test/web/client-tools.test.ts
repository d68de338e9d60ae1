import { afterAll, expect, test } from 'vitest'
import { ScriptedModel } from '../../src/testing/index.ts'
import { openBrowser } from '../browser.ts'
import { openChat } from './chat-page.ts'
import { picture } from './pictures.ts'
import { webScene } from './web-scene.ts'

// A session whose client runs some of its tools: the page says so, and asks nobody.

const browser = await openBrowser()
const tools = ['Edit', 'Bash'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }))
const model = new ScriptedModel([
  {
    text: 'I read it, then I change it.',
    calls: [
      { tool: 'Edit', input: { path: 'src/a.ts' } },
      { tool: 'Bash', input: { command: 'npm test' } },
    ],
  },
  { text: 'Changed, and the tests pass.' },
])
const agents = [{ name: 'coder', description: 'Codes', prompt: 'You code.', model: 'any', tools: [] }]
const scene = await webScene({ agents, model, tools: [] })
afterAll(async () => {
  await browser.close()
  await scene.close()
})

test('calls wait for the client, not for a person, and have its results later', async () => {
  const { sessions } = scene.runtime
  const id = await sessions.start('Rename the function', { clientTools: tools })
  await sessions.outcome(id)
  const chat = await openChat(browser, scene, { at: id })
  await chat.says('I read it')
  await chat.page.getByText('Waiting for the client').waitFor()
  expect(await chat.page.getByText('waiting for you').count()).toBe(0)
  expect(await chat.page.getByText('needs your decision').count()).toBe(0)
  expect(await chat.rows.allInnerTexts()).toContainEqual(expect.stringContaining('client · Edit'))
  await picture(chat, 'client-waiting')
  for (const { id: approvalId, tool } of await sessions.clientCalls(id))
    await sessions.approve(id, { approvalId, decision: { kind: 'result', ok: true, content: `${tool}: done` } })
  await chat.says('the tests pass')
  await picture(chat, 'client-done')
  expect(chat.problems).toEqual([])
  await chat.close()
})
