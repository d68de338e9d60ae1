import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Approver, ExtensionContext, ModelRequest, OutgoingMessage } from '../../../src/contracts/index.ts'
import { type FoundExtension, findExtensions } from '../../../src/kernel/index.ts'
import { openInKernel } from '../../../src/kernel/loader/open-in-kernel.ts'
import type { ScriptedStep } from '../../../src/testing/index.ts'
import { workspaceTools } from '../../../src/tools.ts'
import { kernelScene, manifestOf, requestText, type Scene } from '../kernel-scene.ts'

// The bundled price_monitor with the bundled kv and web_fetch, on a real runtime. The clock, the models and the shop are of the test.

const bundled = join(import.meta.dirname, '../../../extensions')
const hour = 3_600_000
const patience = { timeout: 20_000, interval: 5 }

it('price_monitor runs on its schedule, reports anomalies only, and can be asked', async () => {
  const shop = await openShop()
  const chat = new TestChannel()
  const { clock, models, runtime, diagnostics } = await openScene(shop.host, chat)
  const runs = async () => (await runtime.sessions.list({ labels: ['extension:price_monitor'] })).map(({ status }) => status)

  await chat.says('Hello')
  expect(await chat.next()).toMatchObject({ text: 'At your service.' })

  // The first price, and a small change: nobody is disturbed.
  for (const price of [10, 10.5]) {
    shop.price = price
    await clock.elapse(4 * hour)
    await expect.poll(runs, patience).toEqual(price === 10 ? ['completed'] : ['completed', 'completed'])
  }
  expect(chat.count).toBe(1)

  shop.price = 5
  await clock.elapse(4 * hour)
  expect(await chat.next()).toMatchObject({
    kind: 'notice',
    speaker: 'price_monitor',
    text: 'Unusual prices:\n- Coffee: from 10.5 to 5',
  })
  expect(await runs()).toHaveLength(3)

  // Somebody asks: the orchestrator knows what the person was told, and the agent answers in the same call.
  await chat.says('What does coffee cost?')
  expect(await chat.next()).toMatchObject({ kind: 'answer', speaker: 'orchestrator', text: 'The monitor says: Coffee costs 5.' })
  expect(requestText(models.main, 1)).toContain('Coffee: from 10.5 to 5')
  expect(await runs()).toHaveLength(3)

  // A shop that cannot be read is an anomaly, too.
  shop.price = undefined
  await clock.elapse(4 * hour)
  expect(await chat.next()).toMatchObject({ text: expect.stringContaining('Coffee: the page cannot be read') })
  expect(diagnostics).toEqual([])
})

it('a scheduled run that needs an approval tells the person how to give it', async () => {
  const shop = await openShop()
  const chat = new TestChannel()
  const { clock, runtime } = await openScene(shop.host, chat, { decide: ({ isLive }) => (isLive ? 'wait' : 'suspend') })
  await chat.says('Hello')
  await chat.next()
  await clock.elapse(4 * hour)
  const { kind, text } = (await chat.next()) ?? {}
  const [session] = await runtime.sessions.list({ labels: ['extension:price_monitor'] })
  expect({ kind, text }).toEqual({
    kind: 'notice',
    text: `price_monitor works on its own and needs your approval: Fetch http://${shop.host}/coffee. To allow it in this project from now on: troupe approvals answer ${session?.sessionId} p`,
  })
})

/** What an LLM makes of the prompt: fetch, look up the last price, store the new one, answer. */
function monitorStep({ messages }: ModelRequest): ScriptedStep {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user'))
  const task = turn.flatMap((message) => (message.role === 'user' ? message.parts : [])).map((part) => ('text' in part ? part.text : ''))
  const results = turn.flatMap((message) => (message.role === 'tool' ? message.results : [])).map(({ content }) => content)
  const [page, before] = results
  const price = Number(/Price: ([\d.]+)/.exec(page ?? '')?.[1])
  const report = (...anomalies: readonly string[]): ScriptedStep => ({
    text: JSON.stringify({ anomalies: anomalies.map((message) => ({ source: 'Coffee', message })) }),
  })
  const key = 'price_monitor:Coffee'
  if (page === undefined)
    return { calls: [{ tool: 'web_fetch__web_fetch', input: { url: /- Coffee: (http\S+)/.exec(task.join())?.[1] ?? '' } }] }
  if (Number.isNaN(price)) return report('the page cannot be read')
  if (before === undefined) return { calls: [{ tool: 'kv__get', input: { key } }] }
  if (results.length === 2) return { calls: [{ tool: 'kv__set', input: { key, value: { price, currency: 'EUR' } } }] }
  if (!task.join().includes('Report anomalies only')) return { text: `Coffee costs ${price}.` }
  const last = /"price":([\d.]+)/.exec(before)?.[1]
  return last !== undefined && Math.abs(price / Number(last) - 1) >= 0.1 ? report(`from ${last} to ${price}`) : report()
}

const orchestratorSteps: readonly (ScriptedStep | ((request: ModelRequest) => ScriptedStep))[] = [
  { text: 'At your service.' },
  { calls: [{ tool: 'agent__price_monitor', input: { task: 'What does coffee cost?' } }] },
  ({ messages }) => {
    const last = messages.at(-1)
    return { text: `The monitor says: ${last?.role === 'tool' ? last.results[0]?.content : 'nothing'}` }
  },
]

/** `auto` is the model of the orchestrator. */
const withOwnModel = (found: FoundExtension): FoundExtension =>
  found.manifest?.agent ? { ...found, manifest: { ...found.manifest, agent: { ...found.manifest.agent, model: 'monitor' } } } : found

const approving: Approver = { decide: () => ({ decision: { kind: 'approve', breadth: 'once' }, by: 'ada' }) }

async function openScene(shop: string, chat: TestChannel, approver = approving): Promise<Scene> {
  const found = await findExtensions({ places: [{ folder: bundled, source: 'bundled' }], workspace: bundled, trusted: 'everything' })
  const open = openInKernel({ enter: (_id, _stage, work) => work() })
  const manifest = manifestOf({ id: 'chat' })
  const scene = await kernelScene({
    extensions: [],
    models: { main: orchestratorSteps, monitor: Array.from({ length: 20 }, () => monitorStep) },
    kernel: {
      found: [
        ...found.filter(({ id }) => ['kv', 'web_fetch', 'price_monitor'].includes(id)).map(withOwnModel),
        { id: 'chat', folder: bundled, source: 'user', hash: '', trusted: true, permitted: true, problems: [], manifest },
      ],
      openTrusted: async (each) => (each.id === 'chat' ? { runs: 'kernel', instance: chat, close: async () => {} } : open(each)),
      // As `troupe extensions enable` and `setup` do.
      isDisabled: () => false,
      storedConfig: (id) => (id === 'price_monitor' ? { sources: `Coffee=http://${shop}/coffee`, time_zone: 'UTC' } : {}),
      builtinTools: (names, folder) =>
        workspaceTools({ workspace: folder, allowPrivate: [shop] }).tools.filter(({ name }) => names.includes(name)),
    },
    runtime: { approver },
  })
  onTestFinished(() => scene.close())
  return scene
}

/** A page with one price. Without one it fails. */
async function openShop(): Promise<{ price: number | undefined; readonly host: string }> {
  const server = createServer((_, response) => {
    response.writeHead(shop.price === undefined ? 500 : 200, { 'content-type': 'text/html' })
    response.end(`<h1>Coffee</h1><p>Price: ${shop.price} EUR</p>`)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const shop: { price: number | undefined; readonly host: string } = {
    price: 10,
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
  }
  return shop
}

class TestChannel {
  count = 0
  #context: ExtensionContext | undefined
  readonly #messages: OutgoingMessage[] = []
  #arrived = Promise.withResolvers<void>()

  initialize(context: ExtensionContext): void {
    this.#context = context
  }

  sendToUser(_: string, message: OutgoingMessage): void {
    this.count++
    this.#messages.push(message)
    this.#arrived.resolve()
  }

  async says(text: string): Promise<void> {
    await this.#context?.onUserMessage({ userId: 'ada', text })
  }

  async next(): Promise<OutgoingMessage | undefined> {
    while (this.#messages.length === 0) {
      await this.#arrived.promise
      this.#arrived = Promise.withResolvers<void>()
    }
    return this.#messages.shift()
  }
}
