import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AgentDescription, InteractionEvent } from '../../src/contracts/index.ts'
import { modelServer } from './serve-scene.ts'
import { type Running, type Workbench, workbench } from './troupe.ts'

// `troupe demo --web` as it was built, in a process of its own. The only other server that it sees is one of the test.

interface Demo extends Running {
  readonly banner: string
  readonly url: string
  request(path: string, body?: object, headers?: { readonly [name: string]: string }): Promise<Response>
  read<Answer>(path: string, body?: object): Promise<Answer>
}

async function opened(running: Running): Promise<Demo> {
  let banner = ''
  running.process.stderr?.on('data', (text: string) => {
    banner += text
  })
  await Promise.race([running.says('Stop with Ctrl-C.'), running.ended])
  const [, url = '', token = ''] = /Web chat +(http:\S+)\/#token=(\S+)/.exec(banner) ?? []
  const request: Demo['request'] = (path, body, headers) =>
    fetch(`${url}${path}`, {
      headers: { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    })
  return { ...running, banner, url, request, read: async (path, body) => (await (await request(path, body)).json()) as never }
}

let bench: Workbench
let demo: Demo
const model = 'ollama/tiny'
beforeAll(async () => {
  bench = await workbench()
  const address = await modelServer(({ last }) => ({ text: `The model has read: ${last}` }), ['nomic-embed-text', 'tiny'])
  const env = { OLLAMA_HOST: new URL(address).host }
  demo = await opened(bench.start(['demo', '--web', '--port', '0'], { env }))
})
afterAll(() => demo.process.kill('SIGKILL'))

interface Played {
  readonly calls: readonly string[]
  readonly asked: readonly string[]
  readonly plans: number
  readonly answer: string
}

/** Asks, approves what is asked for, and returns what happened. */
async function play(agent: string, input: string): Promise<Played> {
  type Answer = { readonly sessionId: string; readonly text?: string; readonly approvals?: readonly { id: string; summary: string }[] }
  const { sessionId, approvals = [] } = await demo.read<Answer>(`/v1/${agent}`, { input })
  for (const { id } of approvals) await demo.read(`/v1/sessions/${sessionId}/approvals/${id}`, { kind: 'approve', breadth: 'once' })
  const headers = { accept: 'text/event-stream' }
  const stream = await (await demo.request(`/v1/sessions/${sessionId}/events?until=turn`, undefined, headers)).text()
  const all = [...stream.matchAll(/^data: (.*)$/gm)].map(([, data = '{}']) => JSON.parse(data) as InteractionEvent)
  const tools = new Map(
    all.flatMap((event) =>
      event.type === 'interaction.item.started' && event.item.kind === 'call'
        ? [[`${event.sessionId} ${event.item.id}`, event.item.tool]]
        : [],
    ),
  )
  const ended = all.findLast((event) => event.type === 'interaction.turn.completed')
  return {
    calls: all.flatMap((event) => {
      if (event.type !== 'interaction.item.completed' || event.item.kind !== 'call') return []
      const tool = tools.get(`${event.sessionId} ${event.item.id}`) ?? ''
      return [event.item.status === 'completed' ? tool : `${tool} ${event.item.status}`]
    }),
    asked: approvals.map(({ summary }) => summary),
    plans: all.filter((event) => event.type === 'interaction.item.updated' && event.update.kind === 'plan').length,
    answer: ended?.type === 'interaction.turn.completed' ? (ended.report?.text ?? '') : '',
  }
}

test('it prints the address with the token, the model, the folders and how to stop', () => {
  expect(demo.banner).toMatch(/^Troupe: demonstration of the web chat\n +Web chat +http:\/\/127\.0\.0\.1:\d+\/#token=trp_local_[\w-]{32}\n/)
  expect(demo.banner.replaceAll(/\n {10,}/g, ' ')).toContain(`rehearsal: rules, no LLM. Found: ${model} (Ollama on this machine)`)
  expect(demo.banner).toContain(join(bench.folder, 'state', 'troupe-demo', 'workspace'))
  expect(demo.banner).toContain(join(bench.folder, 'state', 'troupe-demo', 'sessions'))
})

test('it serves the page', async () => {
  const answer = await fetch(`${demo.url}/`)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(await answer.text()).toContain('<script type="module"')
})

describe('each example shows something, without an LLM', () => {
  const expected: { readonly [agent: string]: readonly Omit<Partial<Played>, 'answer'>[] } = {
    trip: [
      { calls: ['look_up_trains', 'agent__trains', 'look_up_weather', 'agent__weather'] },
      { calls: ['look_up_trains', 'look_up_weather', 'plan_weekend'], plans: 3 },
      { calls: ['book_room failed'], asked: ['Book 2 nights in Oslo'] },
    ],
    weather: [
      { calls: ['look_up_weather'] },
      { calls: ['look_up_weather', 'look_up_weather', 'look_up_weather'] },
      { calls: ['snow_report failed'] },
    ],
    trains: [
      { calls: ['look_up_trains'] },
      { calls: ['book_seat'], asked: ['Book a seat from Gothenburg to Oslo at 17:05'] },
      { calls: ['check_delays failed', 'check_delays'] },
    ],
    notes: [
      { calls: ['list_files', 'read_file'] },
      { calls: ['write_file'], asked: ['Write packing.md, a new file'] },
      { calls: ['edit_file'], asked: ['Edit itinerary.md'] },
    ],
  }

  test('three for each agent', async () => {
    const { agents } = await demo.read<{ readonly agents: readonly AgentDescription[] }>('/v1/agents')
    const played = await Promise.all(
      agents.map(async ({ name, examples = [] }) => [name, await Promise.all(examples.map((example) => play(name, example)))] as const),
    )
    const sorted = ({ calls = [], asked = [], plans = 0 }: Partial<Played>) => ({ calls: calls.toSorted(), asked, plans })
    const outlined = (all: readonly (readonly [string, readonly Partial<Played>[]])[]) =>
      Object.fromEntries(all.map(([name, each]) => [name, each.map(sorted)]))
    expect(outlined(played)).toEqual(outlined(Object.entries(expected)))
    for (const { answer } of played.flatMap(([, all]) => all)) {
      expect(answer).toContain('(rehearsal: rules, no LLM)')
      expect(answer).not.toMatch(/no tool here fits|I need:/)
    }
    expect((await readdir(join(bench.folder, 'state', 'troupe-demo', 'workspace'))).toSorted()).toEqual([
      'budget.md',
      'itinerary.md',
      'packing.md',
    ])
  })
})

describe('a model that was found', () => {
  interface Status {
    readonly models: readonly string[]
    readonly demo: { readonly model: string; readonly offers: readonly object[] }
  }

  test('answers for all agents from the next turn on, and rehearsal again afterwards', async () => {
    const before = await demo.read<Status>('/v1/status')
    expect(before).toMatchObject({ models: ['rehearsal'], demo: { model: 'rehearsal' } })
    expect(before.demo.offers).toContainEqual({ model, from: 'Ollama on this machine' })
    const chosen = await demo.read<Status>('/v1/demo/model', { model })
    expect(chosen).toMatchObject({ models: [model], demo: { model } })
    const answers = await Promise.all(['trip', 'weather'].map((agent) => play(agent, 'Hello there')))
    expect(answers.map(({ answer }) => answer)).toEqual(['The model has read: Hello there', 'The model has read: Hello there'])
    expect(await demo.read<Status>('/v1/demo/model', { model: 'rehearsal' })).toMatchObject({ models: ['rehearsal'] })
    expect((await play('trip', 'Hello there')).answer).toContain('rehearsal')
  })

  test('another one is refused', async () => {
    const refused = await demo.request('/v1/demo/model', { model: 'openai/gpt-5.4-mini' })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({ error: { remedy: expect.stringContaining(model) } })
  })
})

test('Ctrl-C is its planned end; the next start takes the next free port and has the same sessions', async () => {
  const { sessions } = await demo.read<{ readonly sessions: readonly { readonly sessionId: string }[] }>('/v1/sessions')
  demo.process.kill('SIGINT')
  expect(await demo.ended).toMatchObject({ code: 0, stdout: '' })
  const root = join(import.meta.dirname, '../..')
  const [again, other] = await Promise.all([
    opened(bench.start(['demo', '--web'])),
    // `npm start`.
    opened(bench.start([], { binary: join(root, 'scripts/start.mjs'), cwd: root })),
  ])
  expect(new Set([again.url, other.url]).size).toBe(2)
  const list = await again.read<{ readonly sessions: readonly { readonly sessionId: string }[] }>('/v1/sessions')
  expect(list.sessions.map(({ sessionId }) => sessionId)).toEqual(sessions.map(({ sessionId }) => sessionId))
  expect((await fetch(`${other.url}/`)).status).toBe(200)
  expect(again.banner.replaceAll(/\n {10,}/g, ' ')).toContain('rehearsal: rules, no LLM.')
  for (const each of [again, other]) each.process.kill('SIGTERM')
  expect(await again.ended).toMatchObject({ code: 0 })
  expect(await other.ended).toMatchObject({ code: 0 })
})
