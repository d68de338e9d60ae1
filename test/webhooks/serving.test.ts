import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { agentText, serveScene } from '../cli/serve-scene.ts'
import { receiver, secret } from './receiver.ts'

// `troupe serve` and `troupe up` as they were built, with a receiver on loopback.

const scene = await serveScene()
const own = '.ai-agent/.ai-agent.json'
const settings = JSON.parse(await readFile(join(scene.folder, own), 'utf8'))
const sendTo = (url: string) => scene.put(own, JSON.stringify({ ...settings, webhooks: { outgoing: { ci: { url, secret } } } }))
await scene.put('clerk.ai', agentText('You answer.', 'tools: [ask_user]\n'))

interface Ready {
  readonly warnings?: readonly string[]
}

test('a server tells of ends and questions, with a link; a receiver that fails is a warning of /ready and in the metrics', async () => {
  const ci = await receiver()
  await sendTo(ci.url)
  const served = await scene.serve()
  scene.reply = ({ last }) => (last === 'ask' ? { call: { name: 'ask_user', input: { question: 'Which one?' } } } : { text: 'Hello.' })
  const start = async (input: string) =>
    ((await (await served.fetch('/v1/sessions', { json: { agent: 'clerk', input } })).json()) as { sessionId: string }).sessionId
  const ids = [await start('hi'), await start('ask')]
  const found = await ci.have(2)
  expect(found.map(({ payload: { type, data } }) => [type, data.sessionId, data.url])).toEqual(
    expect.arrayContaining([
      ['session.completed', ids[0], `${served.url}/#/sessions/${ids[0]}`],
      ['session.waiting', ids[1], `${served.url}/#/sessions/${ids[1]}`],
    ]),
  )
  const metrics = async () => (await served.fetch('/metrics')).text()
  expect(await metrics()).toContain('troupe_webhook_deliveries_total{webhook="ci",result="delivered"} 2')
  ci.answer = () => ({ status: 500 })
  await start('more')
  await ci.have(3)
  const failed = 'troupe_webhook_deliveries_total{webhook="ci",result="failed"} 1'
  while (!(await metrics()).includes(failed));
  const ready = (await (await served.fetch('/ready')).json()) as Ready
  expect(ready.warnings).toEqual(['Webhook ci: the last delivery failed: HTTP 500. It is repeated. See: troupe webhooks list'])
  served.process.kill()
  await served.ended
  const again = await scene.serve()
  const recalled = async () => ((await (await again.fetch('/ready')).json()) as Ready).warnings ?? []
  while ((await recalled()).length === 0);
  await again.after(() => sendTo('http://127.0.0.1:1/hook'), '`webhooks` of the configuration has changed: restart to use it.')
  again.process.kill()
  await again.ended
})

test('so does troupe up', async () => {
  const ci = await receiver()
  await sendTo(ci.url)
  await scene.put('orchestrator.ai', agentText('You decide.'))
  scene.reply = () => ({ text: 'Hello.' })
  const running = scene.start(['up', '--port', '0', '--log-format', 'json'])
  onTestFinished(async () => {
    running.process.kill('SIGTERM')
    await running.ended
  })
  let log = ''
  running.process.stderr?.on('data', (text: string) => {
    log += text
  })
  await running.says('"listening"')
  const { url, tokenFile } = JSON.parse(log.split('\n').find((line) => line.includes('"listening"')) ?? '{}')
  const authorization = `Bearer ${(await readFile(tokenFile, 'utf8')).trim()}`
  await fetch(`${url}/v1/clerk?q=hi`, { headers: { authorization } }).then((response) => response.text())
  expect((await ci.have(1))[0]?.payload).toMatchObject({ type: 'session.completed', data: { agent: 'clerk', text: 'Hello.' } })
})
