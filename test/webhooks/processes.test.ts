import { spawn } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { type Delivery, type DeliveryTable, deliveryTable, withStore } from '../../src/project/index.ts'
import { workbench } from '../cli/troupe.ts'
import { codeBlocks, readPage } from '../documentation.ts'
import { type Receiver, receiver, secret } from './receiver.ts'

// `troupe` as it was built, and receivers on loopback.

const bench = await workbench()
const folder = join(bench.folder, 'state', 'troupe')
const env = { WEBHOOK_SECRET: secret, DEPLOY_TOKEN: 'deploy-4711-secret' }
await bench.agent('clerk', 'steps:\n  - text: "Done with deploy-4711-secret."\n')
const ask = 'steps:\n  - calls: [{ tool: ask_user, input: { question: Which colour?, options: [red, blue] } }]\n'
await bench.agent('asker', ask, 'description: A test\nmodels: script/asker.yaml\ntools: [ask_user]')

/** The user's own configuration needs no trust. */
async function configure(webhooks: object, headends: object = {}): Promise<void> {
  await mkdir(join(bench.folder, '.ai-agent'), { recursive: true })
  await writeFile(join(bench.folder, '.ai-agent', '.ai-agent.json'), JSON.stringify({ webhooks, headends }))
}
const sendTo = ({ url }: Pick<Receiver, 'url'>) =>
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder
  configure({ outgoing: { ci: { url, secret: '${WEBHOOK_SECRET}' } } }, { publicUrl: 'https://agents.example.com' })

const withTable = <Result>(use: (table: DeliveryTable) => Promise<Result>): Promise<Result> =>
  withStore({ folder }, ({ records }) => use(deliveryTable(records, bench.folder)))
const stored = (): Promise<readonly Delivery[]> => withTable((table) => table.list())
/** The time of the next attempt has come. */
const letTimePass = (): Promise<void> =>
  withTable(async (table) => {
    for (const { key } of await table.list()) await table.update(key, (before) => ({ ...before, due: 0 }))
  })

test('a run delivers before it exits: its answer without secrets, and a link; then nothing is left', async () => {
  const ci = await receiver()
  await sendTo(ci)
  const ended = await bench.start(['run', 'clerk.ai', 'go'], { env }).ended
  expect(ended).toMatchObject({ code: 0, stderr: expect.not.stringContaining('Webhook') })
  const [one] = ci.received
  const { sessionId } = one?.payload.data ?? {}
  expect(one).toMatchObject({ isVerified: true, payload: { type: 'session.completed' } })
  expect(one?.payload.data).toMatchObject({
    ...{ agent: 'clerk', title: 'go', status: 'completed', text: 'Done with [redacted:DEPLOY_TOKEN].' },
    url: `https://agents.example.com/#/sessions/${sessionId}`,
  })
  expect([ci.received.length, await stored()]).toEqual([1, []])
})

test('a run that waits for a person says so', async () => {
  const ci = await receiver()
  await sendTo(ci)
  await bench.start(['run', 'asker.ai', 'go'], { env }).ended
  expect(ci.received.map(({ payload }) => payload)).toMatchObject([
    { type: 'session.waiting', data: { requests: [{ kind: 'question', summary: 'Which colour?', options: ['red', 'blue'] }] } },
  ])
})

test('what a run cannot deliver is listed; the next process of the folder delivers it, once', async () => {
  const ci = await receiver()
  ci.answer = () => ({ status: 500 })
  await sendTo(ci)
  const ended = await bench.start(['run', 'clerk.ai', 'go'], { env }).ended
  expect(ended.code).toBe(0)
  expect(ended.stderr).toContain('Webhook ci: the last delivery failed: HTTP 500. It is repeated. See: troupe webhooks list')
  const [left] = await stored()
  const id = left?.notice.id ?? ''
  const listed = JSON.parse((await bench.troupe(['webhooks', 'list', '--json'])).stdout)
  expect(listed.deliveries).toEqual([
    {
      ...{ id, webhook: 'ci', event: 'completed', sessionId: left?.notice.sessionId, status: 'waiting', attempts: 1, error: 'HTTP 500' },
      ...{ at: expect.any(String), nextAt: expect.any(String) },
    },
  ])
  expect((await bench.troupe(['webhooks', 'list'])).stdout).toContain(`completed → ci · 1 attempt failed · HTTP 500 · next attempt`)
  expect((await bench.troupe(['doctor'], { env })).stdout).toContain('ci: the last delivery failed: HTTP 500')
  ci.answer = () => ({})
  await letTimePass()
  await bench.start(['run', 'clerk.ai', 'again'], { env }).ended
  expect(ci.received.map((each) => each.id === id)).toEqual([true, true, false])
  expect(await stored()).toEqual([])
})

test('kill -9 between the answer and the delivery: the next process delivers it, under the same id', async () => {
  const ci = await receiver()
  await sendTo(ci)
  const kill = `data:text/javascript,globalThis.fetch=()=>process.kill(process.pid,'SIGKILL')`
  const killed = await bench.start(['run', 'clerk.ai', 'go'], { env, node: ['--import', kill] }).ended
  expect([killed.signal, ci.received.length]).toEqual(['SIGKILL', 0])
  const [left] = await stored()
  await letTimePass()
  await bench.start(['run', 'clerk.ai', 'again'], { env }).ended
  expect(ci.received.map(({ payload }) => payload.data.title)).toEqual(['go', 'again'])
  expect(ci.received[0]?.id).toBe(left?.notice.id)
})

test('kill -9 in mid delivery: the receiver can tell that it is the same one', async () => {
  const ci = await receiver()
  ci.answer = () => (ci.received.length === 1 ? { hangs: true } : {})
  await sendTo(ci)
  const running = bench.start(['run', 'clerk.ai', 'go'], { env })
  await ci.have(1)
  running.process.kill('SIGKILL')
  await running.ended
  // Its attempt may not have ended yet.
  await bench.start(['run', 'clerk.ai', 'meanwhile'], { env }).ended
  expect(ci.received.map(({ payload }) => payload.data.title)).toEqual(['go', 'meanwhile'])
  await letTimePass()
  await bench.start(['run', 'clerk.ai', 'again'], { env }).ended
  expect(ci.received.map(({ payload }) => payload.data.title)).toEqual(['go', 'meanwhile', 'go', 'again'])
  expect(ci.received[2]?.id).toBe(ci.received[0]?.id)
})

test('what was given up can be retried: by id, or all of it', async () => {
  const ci = await receiver()
  ci.answer = () => ({ status: 410 })
  await sendTo(ci)
  for (const input of ['one', 'two']) await bench.start(['run', 'clerk.ai', input], { env }).ended
  const [one, two] = (await stored()).map(({ notice }) => notice.id)
  const retry = async (...args: string[]) => JSON.parse((await bench.troupe(['webhooks', 'retry', ...args, '--json'])).stdout)
  expect(await retry(one ?? '')).toMatchObject({ retried: [one] })
  expect(await retry('--all')).toMatchObject({ retried: [two] })
  expect((await bench.troupe(['webhooks', 'retry', 'nothing'])).stderr).toContain('no notification with the id "nothing"')
  expect((await bench.troupe(['webhooks', 'retry'])).code).toBe(2)
  expect((await bench.troupe(['webhooks', 'list', '--all'])).code).toBe(2)
  ci.answer = () => ({})
  await bench.start(['run', 'clerk.ai', 'three'], { env }).ended
  expect(ci.received.slice(2).map(({ payload }) => payload.data.title)).toEqual(['one', 'two', 'three'])
  expect(await stored()).toEqual([])
})

test('a project needs trust for its webhooks; what is wrong with them is said before anything starts', async () => {
  await configure({})
  const ci = await receiver()
  const project = join(bench.folder, '.ai-agent.json')
  const write = (webhooks: object) => writeFile(project, JSON.stringify({ webhooks }))
  const run = (...more: string[]) => bench.troupe(['run', 'clerk.ai', 'go', ...more], { env: { WEBHOOK_SECRET: 'short' } })
  await write({ outgoing: { ci: { url: ci.url, secret } } })
  expect((await run()).stderr).toContain('webhooks')
  expect(ci.received).toEqual([])
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder
  await write({ outgoing: { ci: { url: ci.url, secret: '${WEBHOOK_SECRET}' }, other: { url: ci.url, secret: '${ABSENT}' } } })
  expect((await run('--trust')).stderr).toContain('`webhooks.outgoing.other.secret` needs the variable ABSENT')
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder
  await write({ outgoing: { ci: { url: ci.url, secret: '${WEBHOOK_SECRET}' } } })
  const short = await run('--trust')
  expect([short.code, short.stderr]).toEqual([2, expect.stringContaining('`webhooks.outgoing.ci.secret` must be `whsec_`')])
  expect(short.stderr).toContain('openssl rand -base64 32')
  await write({ incoming: { a: { agent: 'clark', input: '{{ body.', token: 'long-enough' }, b: { agent: 'clerk', input: 'x' } } })
  const wrong = await bench.troupe(['validate'])
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('has neither `secret` nor `token`: anybody could start sessions')
  await rm(project)
  await configure({ incoming: { a: { agent: 'clark', input: '{{ body.', token: 'long-enough' } } })
  const template = await bench.troupe(['validate'])
  expect(template.stderr).toContain('`webhooks.incoming.a.input:1:')
  expect(template.stderr).toContain('there is no agent `clark`. Did you mean `clerk`?')
  const shown = await bench.troupe(['config', 'show'])
  expect(shown.stdout).not.toContain('long-enough')
})

test('the page: its program verifies and prints what a run sends; its configurations are valid', async () => {
  const blocks = new Map(codeBlocks(readPage('docs/webhooks.md')).map(({ file, text }) => [file, text]))
  const { webhooks } = JSON.parse(blocks.get('.ai-agent.json') ?? '')
  await bench.agent('triage', 'steps:\n  - text: Done.\n')
  await configure({ ...webhooks, ...JSON.parse(blocks.get('incoming.json') ?? '').webhooks })
  expect(await bench.troupe(['validate'])).toMatchObject({ code: 0, stderr: '' })
  // At any free port.
  const program = (blocks.get('receiver.mjs') ?? '').replace('.listen(4000,', '.listen(0,')
  await writeFile(
    join(bench.folder, 'receiver.mjs'),
    `${program.trimEnd()}.on('listening', function () { console.log(this.address().port) })\n`,
  )
  const running = spawn(process.execPath, ['receiver.mjs'], { cwd: bench.folder, env: { ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void running.kill())
  const lines = createInterface(running.stdout)[Symbol.asyncIterator]()
  const { value: port } = await lines.next()
  await sendTo({ url: `http://127.0.0.1:${port}/troupe` })
  const forged = await fetch(`http://127.0.0.1:${port}/troupe`, { method: 'POST', body: '{}' })
  expect(forged.status).toBe(401)
  expect((await bench.start(['run', 'triage.ai', 'Hello'], { env }).ended).stderr).not.toContain('Webhook')
  expect((await lines.next()).value).toBe('session.completed: Hello (triage) Done.')
})
