import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { InteractionEvent } from '../../src/contracts/index.ts'
import { journalOf } from '../web/journal.ts'
import { agentText, type ModelReply, type Served, serveScene } from './serve-scene.ts'

// `troupe serve` with what ignores an interrupt: a model, a command, a module, an MCP server, a child.

const scene = await serveScene()
const deafCommand = (name: string): string => `echo $$ > ${name}.pid; trap "" TERM INT HUP; echo begun; while :; do sleep 0.1; done`
const deafModule = `export const deaf = {
  name: 'deaf', description: 'Never ends.', inputSchema: { type: 'object' }, graceMs: 60_000, execute: () => new Promise(() => {}),
}`
const deafServer = `import { createInterface } from 'node:readline'
const tools = [{ name: 'wait', description: 'Never answers.', inputSchema: { type: 'object' } }]
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  const known = {
    initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'hub', version: '1' } },
    'tools/list': { tools },
  }[method]
  if (id === undefined || method === 'tools/call') continue
  const answer = known ? { result: known } : { error: { code: -32601, message: 'unknown' } }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n')
}
`
const settings = JSON.parse(await readFile(join(scene.folder, '.ai-agent/.ai-agent.json'), 'utf8'))
const mcpServers = { hub: { command: process.execPath, args: [join(scene.folder, 'hub.mjs')] } }
const rules = [{ allow: 'shell' }, { allow: 'deaf' }, { allow: 'hub/*' }]
await scene.put('.ai-agent/.ai-agent.json', JSON.stringify({ ...settings, sandbox: { mode: 'off' }, approvals: { rules }, mcpServers }))
await scene.put('hub.mjs', deafServer)
await scene.put('deaf.mjs', deafModule)
await scene.put('boss.ai', agentText('You lead.', 'tools: [shell, ./deaf.mjs, "hub/*"]\nagents: [./worker.ai]\n'))
await scene.put('worker.ai', agentText('You work.', 'tools: [shell]\noutput: { format: markdown }\n'))

const never = new Promise<never>(() => {})
const replies: { readonly [message: string]: ModelReply } = {
  'a text': { pieces: ['Half of it. ', never] },
  'a command': { call: { name: 'shell', input: { command: deafCommand('command') } } },
  'a module': { call: { name: 'deaf', input: {} } },
  'a server': { call: { name: 'hub__wait', input: {} } },
  'a child': { call: { name: 'agent__worker', input: { prompt: 'work' } } },
  work: { call: { name: 'shell', input: { command: deafCommand('child') } } },
}
const asked: string[] = []
scene.reply = ({ last }) => {
  asked.push(last)
  return replies[last] ?? { text: `You said: ${last}` }
}

const post = (served: Served, path: string, json: object = {}) => served.fetch(`/v1/sessions/${path}`, { json })

async function start(served: Served, input: string): Promise<string> {
  const response = await served.fetch('/v1/sessions', { json: { agent: 'boss', input } })
  return ((await response.json()) as { sessionId: string }).sessionId
}

const isEnd = ({ type, agentPath }: InteractionEvent): boolean =>
  agentPath === 'root' && /^interaction\.turn\.(completed|failed|interrupted)$/.test(type)

/** The journal, when it has events for which this is true. */
async function journalWith(served: Served, id: string, is: (events: readonly InteractionEvent[]) => boolean) {
  let events: readonly InteractionEvent[] = []
  await expect
    .poll(
      async () => {
        events = await journalOf(served, id)
        return is(events)
      },
      { timeout: 20_000 },
    )
    .toBe(true)
  return events
}

const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('an interrupt ends a turn whose calls do not hear it, and kills what it owns', async () => {
  const served = await scene.serve(['--trust'])
  const kinds = ['a text', 'a command', 'a module', 'a server', 'a child']
  const started = await Promise.all(
    kinds.map(async (kind) => {
      const id = await start(served, kind)
      const isBusy = ({ type, agentPath }: InteractionEvent): boolean =>
        type === 'interaction.item.started' && (kind !== 'a child' || agentPath !== 'root')
      await journalWith(served, id, (events) => events.some(isBusy))
      return id
    }),
  )
  const pids = await Promise.all(
    ['command', 'child'].map(async (name) => {
      const file = join(scene.folder, `${name}.pid`)
      await expect.poll(() => readFile(file, 'utf8').catch(() => ''), { timeout: 20_000 }).not.toBe('')
      return Number(await readFile(file, 'utf8'))
    }),
  )
  expect(pids.map(isRunning)).toEqual([true, true])
  const ended = await Promise.all(
    started.map(async (id) => {
      expect((await post(served, `${id}/interrupt`)).status).toBe(202)
      const events = await journalWith(served, id, (all) => all.some(isEnd))
      const cancelled = events.find(({ type }) => type === 'interaction.cancel.requested')
      const items = new Map<string, string>()
      for (const { type, sessionId, itemId, ...event } of events) {
        if (type === 'interaction.item.started') items.set(`${sessionId} ${itemId}`, 'running')
        if ('item' in event && 'status' in event.item) items.set(`${sessionId} ${itemId}`, event.item.status)
      }
      const end = events.find(isEnd)
      return { type: end?.type, took: (end?.at ?? 0) - (cancelled?.at ?? 0), statuses: [...new Set(items.values())] }
    }),
  )
  for (const [index, { type, took, statuses }] of ended.entries()) {
    expect([kinds[index], type, statuses]).toEqual([kinds[index], 'interaction.turn.interrupted', ['interrupted']])
    // `test/runtime/interrupt.test.ts` has the exact times. This one may run beside others.
    expect(took, kinds[index]).toBeLessThan(5_000)
  }
  await expect.poll(() => pids.map(isRunning), { timeout: 5_000 }).toEqual([false, false])
  const text = (await (await served.fetch(`/v1/sessions/${started[0]}`)).json()) as { outcome: object }
  expect(text.outcome).toMatchObject({ status: 'interrupted', text: 'Half of it. ' })
  served.process.kill('SIGTERM')
  await served.ended
})

test('unread messages are held, also after kill -9, until they or another message are sent', async () => {
  const first = await scene.serve(['--trust'])
  const ids = await Promise.all(
    [1, 2].map(async () => {
      const id = await start(first, 'a text')
      await journalWith(first, id, (events) => events.some(({ type }) => type === 'interaction.item.started'))
      await post(first, `${id}/messages`, { input: 'one' })
      await post(first, `${id}/messages`, { input: 'two', mode: 'steer' })
      await post(first, `${id}/interrupt`)
      await journalWith(first, id, (events) => events.at(-1)?.type === 'interaction.session.idle')
      return id
    }),
  )
  first.process.kill('SIGKILL')
  await first.ended
  expect((await scene.troupe(['sessions', 'show', ids[0] ?? ''])).stdout).toMatch(
    /Half of it\.[\s\S]*Held until the next message\n +one\n\s+two\n/,
  )
  asked.splice(0)
  const second = await scene.serve(['--trust'])
  const statusOf = async (id: string) =>
    ((await (await second.fetch(`/v1/sessions/${id}`)).json()) as { session: { status: string } }).session.status
  expect([await Promise.all(ids.map(statusOf)), asked]).toEqual([['interrupted', 'interrupted'], []])
  const [sent = '', followed = ''] = ids
  expect(await (await post(second, `${sent}/send-held`)).json()).toMatchObject({ driven: true })
  expect(await (await post(second, `${followed}/messages`, { input: 'three' })).json()).toMatchObject({ driven: true })
  const answers = (events: readonly InteractionEvent[]) =>
    events.flatMap((event) => (event.type === 'interaction.turn.completed' ? [event.report.text] : []))
  expect(answers(await journalWith(second, sent, (events) => events.filter(isEnd).length === 3))).toEqual([
    'You said: one',
    'You said: two',
  ])
  expect(answers(await journalWith(second, followed, (events) => events.filter(isEnd).length === 4))).toEqual([
    'You said: one',
    'You said: two',
    'You said: three',
  ])
  second.process.kill('SIGTERM')
  await second.ended
})
