import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openBrowser } from '../browser.ts'
import { agentText, serveScene } from '../cli/serve-scene.ts'
import { violations } from './axe.ts'
import { openChat } from './chat-page.ts'

// `troupe serve` as it was built, and sessions that `troupe run` left in its folder and in another one.

const scene = await serveScene()
await scene.put('here/writer.ai', agentText('You write.', 'tools: [write_file]\n'))
await scene.put('there/writer.ai', agentText('You write.', 'tools: [write_file]\n'))
scene.reply = ({ last }) =>
  last.startsWith('Write') ? { call: { name: 'write_file', input: { path: 'out.txt', content: last } } } : { text: `Done after: ${last}` }

const leave = async (cwd: string, prompt: string, more: readonly string[] = []): Promise<string> => {
  const { stdout } = await scene.troupe(['run', 'writer.ai', prompt, '--json', ...more], { cwd: join(scene.folder, cwd) })
  return (JSON.parse(stdout) as { sessionId: string }).sessionId
}
await leave('here', 'Write here')
const denied = await leave('here', 'Write with flags', ['--deny', 'shell(rm *)'])
const other = await leave('there', 'Write elsewhere')
const served = await scene.serve([], { cwd: 'here' })
const browser = await openBrowser()
const chat = await openChat(browser, { url: served.url, address: `${served.url}/#token=${served.token}` })
await chat.context.grantPermissions(['clipboard-read', 'clipboard-write'])
afterAll(async () => {
  await browser.close()
  served.process.kill('SIGTERM')
  await served.ended
})

const { page } = chat
const item = (title: string) => chat.sessions.getByRole('link', { name: new RegExp(title) })

test('lists have the sessions of the folder, and those of others on request with their folder', async () => {
  await item('Write here').waitFor()
  expect(await item('Write elsewhere').count()).toBe(0)
  await chat.sessions.getByRole('link', { name: 'Approvals 1' }).waitFor()
  await page.getByRole('checkbox', { name: 'All folders' }).check()
  await item('Write elsewhere').waitFor()
  expect(await item('Write elsewhere').innerText()).toContain('there · read-only')
  await item('Write elsewhere').click()
  await chat.conversation
    .getByText(/^This session is read-only here\. It belongs to another folder: .*there\. Continue it in a shell:$/)
    .waitFor()
  const command = `cd ${join(scene.folder, 'there')} && troupe run writer.ai --resume ${other}`
  await chat.conversation.locator('.approval').waitFor()
  expect(await chat.message.count()).toBe(0)
  for (const name of ['Allow once', 'Deny', 'Stop', 'Other ways to stop', 'Edit', 'Retry'])
    expect(await chat.button(name).count(), name).toBe(0)
  expect(await violations(page)).toEqual([])
  await chat.button('Copy').last().click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(command)
  await page.getByRole('checkbox', { name: 'All folders' }).uncheck()
  // The one that is shown stays.
  await item('Write elsewhere').waitFor()
  await item('Write here').click()
  await chat.button('Allow once').waitFor()
  await page.reload()
  await item('Write here').waitFor()
  expect(await item('Write elsewhere').count()).toBe(0)
})

test('a session of `troupe run` in the folder continues after the answer; with flags of its own it has the command', async () => {
  await chat.button('Allow once').click()
  await chat.says(/^Done after: /)
  await chat.send('Thanks')
  await chat.says('Done after: Thanks')
  await chat.show(denied)
  await chat.conversation
    .getByText(/This server does not apply the flags that the session was started with: --deny 'shell\(rm \*\)'\./)
    .first()
    .waitFor()
  expect(await chat.message.count()).toBe(0)
  await page.getByRole('link', { name: /Approvals/ }).click()
  await page.getByRole('heading', { name: 'Approvals' }).waitFor()
  await page.getByText(`troupe run writer.ai --resume ${denied} --deny 'shell(rm *)'`, { exact: true }).waitFor()
})

test('a process that ends in mid turn is shown, and a message continues it', async () => {
  const asked = Promise.withResolvers<void>()
  const { reply } = scene
  scene.reply = () => {
    asked.resolve()
    return new Promise(() => {})
  }
  const run = scene.start(['run', 'writer.ai', 'Hello there'], { cwd: join(scene.folder, 'here') })
  await asked.promise
  await item('Hello there').click()
  await chat.says('Hello there')
  run.process.kill('SIGKILL')
  await run.ended
  scene.reply = reply
  await chat.conversation.getByText('The process of this turn has ended. A message continues it').waitFor()
  await chat.send('Go on')
  await chat.says('Done after: Go on')
})

test('what nobody takes is not shown as sent', async () => {
  const receipt = { message: 'Stored, but nothing happens yet. The model is gone.', continue: { command: 'troupe run x.ai --resume 1' } }
  await page.route(/\/(messages|approvals\/.+)$/, (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 202, json: { clientId: 'c', driven: false, ...receipt } })
      : route.fallback(),
  )
  await chat.send('Anybody?')
  await chat.says(/Stored, but nothing happens yet\. The model is gone\./)
  expect(await chat.conversation.getByText('Sending…').count()).toBe(0)
  await leave('here', 'Write again')
  await item('Write again').click()
  await chat.button('Allow once').click()
  await chat.says(/Stored, but nothing happens yet/)
  expect(await page.getByText('Answer sent.').count()).toBe(0)
  expect(await chat.conversation.getByText('troupe run x.ai --resume 1').count()).toBe(1)
  expect(chat.problems).toEqual([])
})
