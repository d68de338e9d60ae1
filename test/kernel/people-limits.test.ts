import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, onTestFinished, vi } from 'vitest'
import type { AnyExtension, ExtensionContext, IncomingMessage, OutgoingMessage, PersonLimits } from '../../src/contracts/index.ts'
import { createKernel } from '../../src/kernel/index.ts'
import { loadProject } from '../../src/project/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { kernelScene, type Scene, type SceneOptions } from './kernel-scene.ts'

// What `limitsOf` of a channel limits.

class Channel implements AnyExtension {
  readonly sent: OutgoingMessage[] = []
  readonly limits: { [person: string]: PersonLimits | undefined } = {}
  context: ExtensionContext | undefined
  initialize = (context: ExtensionContext): void => {
    this.context = context
  }
  sendToUser = (_: string, message: OutgoingMessage): void => void this.sent.push(message)
  limitsOf = (person: string): PersonLimits | undefined => this.limits[person]
  say = (text: string, more: Partial<IncomingMessage> = {}) =>
    this.context?.onUserMessage({ userId: 'thread', personId: 'ada', text, ...more })
  get texts(): readonly string[] {
    return this.sent.map(({ text }) => text)
  }
}

const open: Scene[] = []
afterEach(async () => {
  for (const scene of open.splice(0)) await scene.close()
})

async function start(chat: AnyExtension, script: SceneOptions['models'][string], more: Partial<SceneOptions> = {}) {
  let kernel: Scene['kernel'] | undefined
  const scene = await kernelScene({
    extensions: [{ id: 'chat', instance: chat }],
    models: { main: script },
    runtime: { approver: { decide: () => 'wait' }, budgetOf: (owner) => kernel?.budgetOf(owner) },
    ...more,
  })
  kernel = scene.kernel
  open.push(scene)
  const until = (holds: () => boolean): Promise<void> =>
    vi.waitFor(async () => {
      await scene.clock.elapse(10)
      expect(holds()).toBe(true)
    })
  return { ...scene, until }
}

const used = (text: string) => ({ text, usage: { input: 50, output: 50 } })

it('the sessions that a person has started share a budget, which the channel can change', async () => {
  const chat = new Channel()
  chat.limits.ada = { budget: { tokensPerDay: 1 } }
  const { until, models } = await start(chat, [used('Hello Bob.'), used('Hello Ada.'), used('More.')])
  await chat.say('hello', { userId: 'other', personId: 'bob' })
  await until(() => chat.texts.includes('Hello Bob.'))
  await chat.say('hello')
  await until(() => chat.sent.length === 2)
  expect(chat.texts[1]).toContain('tokensPerDay')
  expect(models.main?.requests).toHaveLength(1)
  chat.limits.ada = {}
  await chat.say('hello')
  await until(() => chat.texts.includes('Hello Ada.'))
  // Those who write in a thread spend what its owner may spend.
  chat.limits.ada = { budget: { tokensPerDay: 1 } }
  await chat.say('again', { personId: 'bob' })
  await until(() => chat.sent.length === 4)
  expect(chat.texts[3]).toContain('tokensPerDay')
})

it('the last budget of a person applies while their channel is not there', async () => {
  const store = memoryStore()
  const chat = new Channel()
  chat.limits.ada = { budget: { tokensPerDay: 1_000_000 } }
  const kernel = { workspace: '/project' }
  const first = await start(chat, [used('Hello.')], { store, kernel })
  await chat.say('hello')
  await first.until(() => chat.sent.length === 1)
  expect(await first.kernel.budgetOf('chat:ada')).toEqual({ tokensPerDay: 1_000_000 })
  await first.close()
  const second = await start({}, [], { store, kernel, extensions: [] })
  expect(await second.kernel.budgetOf('chat:ada')).toEqual({ tokensPerDay: 1_000_000 })
  expect(await second.kernel.budgetOf('chat:bob')).toBeUndefined()
  expect(await second.kernel.budgetOf('local')).toBeUndefined()
})

it('a message too many is not taken, with one notice that says when to write again', async () => {
  const chat = new Channel()
  chat.limits.ada = { messagesPerMinute: 2 }
  const { until, clock, models } = await start(chat, [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }, { text: 'Bob.' }])
  await clock.elapse(60_000 - (clock.now() % 60_000) + 20_000)
  await chat.say('one', { messageId: '1' })
  await until(() => chat.sent.length === 1)
  // A message that was taken does not count again.
  for (let again = 0; again < 3; again++) await chat.say('one', { messageId: '1' })
  await chat.say('two', { messageId: '2' })
  await until(() => chat.sent.length === 2)
  await chat.say('three', { messageId: '3' })
  await chat.say('four', { messageId: '4' })
  await until(() => chat.sent.length === 3)
  expect(chat.sent[2]).toMatchObject({
    kind: 'error',
    onlyFor: 'ada',
    text: expect.stringMatching(/^Your message was not sent: you may send 2 messages a minute\. Write again in (39|40) seconds/),
  })
  await chat.say('hello', { personId: 'bob' })
  await until(() => chat.texts.includes('Three.'))
  await clock.elapse(40_000)
  // It was not taken, so it may come again.
  await chat.say('three', { messageId: '3' })
  await until(() => chat.texts.includes('Bob.'))
  expect(chat.sent).toHaveLength(5)
  expect(models.main?.requests).toHaveLength(4)
})

const ask = {
  name: 'ask',
  description: 'Asks',
  inputSchema: { type: 'object' },
  execute: async (_: unknown, context: { ask(question: { text: string }): Promise<unknown> }) =>
    JSON.stringify(await context.ask({ text: 'Which?' })),
}
const asks = (...ids: readonly number[]) => ({ calls: ids.map((id) => ({ tool: 'ask', input: { id } })) })

it('answers and /stop are taken at any rate', async () => {
  const chat = new Channel()
  chat.limits.ada = { messagesPerMinute: 1 }
  const { until } = await start(chat, [asks(1, 2), asks(3)], {
    tools: [ask as never],
    orchestrator: { tools: ['ask'] },
  })
  await chat.say('Go')
  await until(() => chat.sent.length === 1)
  await chat.say('this')
  await until(() => chat.sent.length === 2)
  await chat.say('', { answer: { requestId: chat.sent[1]?.id ?? '', kind: 'answer', text: 'that' } })
  await until(() => chat.sent.length === 3)
  expect(chat.texts).toEqual(['Which?', 'Which?', 'Which?'])
  await chat.say('/stop')
  await until(() => chat.texts.at(-1) === 'Stopped.')
  await chat.say('More')
  await until(() => chat.texts.at(-1)?.includes('1 message a minute') === true)
})

it('commands and files are no answers: they have their rate while a request is open', async () => {
  const chat = new Channel()
  chat.limits.ada = { messagesPerMinute: 1 }
  const { until, models } = await start(chat, [asks(1), { text: 'Too much.' }], { tools: [ask as never], orchestrator: { tools: ['ask'] } })
  await chat.say('Go')
  await until(() => chat.texts.includes('Which?'))
  await chat.say('/queue More')
  await chat.say('More', { files: [{ name: 'a.txt', mediaType: 'text/plain', ref: 'x' }] })
  await until(() => chat.sent.length === 2)
  expect(chat.texts[1]).toContain('1 message a minute')
  await chat.say('this')
  await until(() => chat.texts.at(-1) === 'Too much.')
  expect(chat.sent).toHaveLength(3)
  expect(models.main?.requests).toHaveLength(2)
})

it('a channel that cannot say what a person may send keeps the message', async () => {
  const chat = new Channel()
  const { until } = await start(chat, [{ text: 'Hello.' }])
  chat.limitsOf = () => {
    throw new Error('no connection')
  }
  await expect(chat.say('hello', { messageId: '1' })).rejects.toThrow('no connection')
  chat.limitsOf = () => ({ messagesPerMinute: 'two' }) as never
  await expect(chat.say('hello', { messageId: '1' })).rejects.toThrow('limitsOf("ada") of chat.messagesPerMinute is not a number')
  chat.limitsOf = () => undefined
  await chat.say('hello', { messageId: '1' })
  await until(() => chat.sent.length === 1)
})

it('the kernel of a project has the limits and the files of its channels', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-limits-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const chat = join(folder, '.ai-agent', 'extensions', 'chat')
  mkdirSync(chat, { recursive: true })
  writeFileSync(join(folder, '.ai-agent.json'), '{ "defaults": { "models": "rehearsal" } }')
  writeFileSync(join(chat, 'manifest.yaml'), 'id: chat\nname: Chat\nversion: "1"\ndescription: test\nentrypoint: main:Chat\n')
  const file = join(folder, 'sent')
  writeFileSync(
    join(chat, 'main.js'),
    `import { appendFileSync } from 'node:fs'
    const write = (line) => appendFileSync(${JSON.stringify(file)}, line + '\\n')
    export class Chat {
      initialize(context) { this.context = context }
      start() {
        const files = [{ name: 'a.txt', mediaType: 'text/plain', ref: 'x' }]
        return this.context.onUserMessage({ userId: 'thread', personId: 'ada', text: 'Hello', files })
      }
      sendToUser(userId, { text }) { write(text) }
      readFile({ ref }) {
        write('read ' + ref)
        return new TextEncoder().encode('abc')
      }
      limitsOf(person) { return person === 'ada' ? { budget: { tokensPerDay: 0 } } : undefined }
    }
    `,
  )
  const project = await loadProject({ cwd: folder, env: { HOME: folder, PATH: process.env.PATH } })
  const kernel = await createKernel({ project })
  onTestFinished(async () => void (await kernel.close()))
  await kernel.start()
  const lines = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '')
  await expect.poll(lines, { timeout: 5_000 }).toContain('tokensPerDay')
  expect(lines()).toContain('read x')
})
