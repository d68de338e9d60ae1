import { expect, it } from 'vitest'
import {
  type ChannelProvider,
  type IncomingFile,
  type InputPart,
  type ModelRequest,
  type Store,
  type Tool,
  TroupeError,
} from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, type ScriptedStepSource } from '../../src/testing/index.ts'
import { FakeChannel, stage } from './router-stage.ts'

// Files that come with messages.

const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2])
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const file = (name: string, mediaType = 'application/octet-stream', bytes?: number): IncomingFile => ({
  ...{ name, mediaType, ref: `ref of ${name}` },
  ...(bytes !== undefined && { bytes }),
})
const ok = { text: 'Seen.' }

type ReadFile = NonNullable<ChannelProvider['readFile']>

class FileChannel extends FakeChannel {
  readonly read: string[] = []
  readonly readFile?: ReadFile

  constructor(readFile?: ReadFile) {
    super()
    if (readFile)
      this.readFile = (given, signal) => {
        this.read.push(given.ref)
        return readFile(given, signal)
      }
  }
}

async function open(
  script: readonly ScriptedStepSource[],
  readFile?: ReadFile,
  options: Parameters<typeof stage>[2] & { store?: Store } = {},
) {
  const channel = new FileChannel(readFile)
  const staged = await stage(options.store ?? memoryStore(), script, options)
  const remove = staged.router.register('chat', channel)
  const send = (text: string, files: readonly IncomingFile[], messageId?: string): Promise<void> =>
    staged.router.receive('chat', { userId: 'ann', text, files, ...(messageId !== undefined && { messageId }) })
  return { ...staged, channel, remove, send }
}

/** The last message of the person, without the data of its parts. */
function partsIn(request: ModelRequest | undefined): readonly object[] {
  const last = request?.messages.at(-1)
  const parts: readonly InputPart[] = last?.role === 'user' ? last.parts : []
  return parts.map((part) => (part.type === 'text' ? part : { ...part, data: atob(part.data) }))
}

it('images, PDF and texts reach the model by their content', async () => {
  const contents: { readonly [name: string]: Uint8Array } = {
    'photo.bin': png,
    'report.pdf': bytesOf('%PDF-1.7 x'),
    'table.csv': bytesOf('a,b'),
    'notes.md': bytesOf('# Größe'),
  }
  const { send, channel, model, problems, stop } = await open([ok], ({ name }) => contents[name] ?? png)
  await send('Look', [file('photo.bin'), file('report.pdf', 'application/pdf'), file('table.csv', 'text/csv'), file('notes.md')])
  await channel.until(1)
  expect(partsIn(model.requests[0])).toEqual([
    { type: 'text', text: 'Look' },
    { type: 'image', mediaType: 'image/png', data: String.fromCharCode(...png) },
    { type: 'file', mediaType: 'application/pdf', name: 'report.pdf', data: '%PDF-1.7 x' },
    { type: 'file', mediaType: 'text/csv', name: 'table.csv', data: 'a,b' },
    { type: 'file', mediaType: 'text/plain', name: 'notes.md', data: expect.stringContaining('# Gr') },
  ])
  expect(channel.lines()).toEqual(['answer orchestrator: Seen.'])
  expect(problems).toEqual([])
  await stop()
})

it('a message may be files alone; a command takes none', async () => {
  const { send, channel, model, stop } = await open([ok, ok], () => png)
  await send('', [file('a.png')])
  await channel.until(1)
  expect(partsIn(model.requests[0])).toMatchObject([{ type: 'image' }])
  await send('/new', [file('a.png')])
  await channel.until(2)
  expect(channel.lines()[1]).toContain('/new takes no files')
  await send('/queue', [file('a.png')])
  await channel.until(3)
  expect(model.requests).toHaveLength(2)
  await stop()
})

it('a file that cannot be sent is a line for the agent and a notice for the person, and the rest is sent', async () => {
  const clock = new FakeClock()
  const big = 21 * 1024 ** 2
  const { send, channel, model, stop } = await open(
    [ok],
    ({ name }) => {
      if (name === 'broken') throw new Error('file_not_found')
      if (name === 'text') return 'abc' as never
      if (name === 'long') return new Uint8Array(big)
      return name === 'empty' ? new Uint8Array() : new Uint8Array([0, 1, 2])
    },
    { clock },
  )
  const names = ['broken', 'text', 'long', 'empty', 'tool.zip']
  await send('Look', [file('huge', 'video/mp4', 1024 ** 3), ...names.map((name) => file(name, 'application/zip'))])
  await expect
    .poll(async () => {
      await clock.elapse(1_000)
      return channel.messages.length
    })
    .toBe(2)
  const lines = [
    'The file "huge" was not sent to the agent: it has 1024.0 MB, and the files of a message may have 20 MB.',
    'The file "broken" was not sent to the agent: it could not be read: file_not_found.',
    'The file "text" was not sent to the agent: its channel returned no bytes.',
    'The file "long" was not sent to the agent: it has 21.0 MB, and the files of a message may have 20 MB.',
    'The file "empty" was not sent to the agent: it is empty.',
    'The file "tool.zip" was not sent to the agent: agents read images, PDF and text, and it is application/zip.',
  ]
  expect(partsIn(model.requests[0])).toEqual([
    { type: 'text', text: 'Look' },
    ...lines.map((line) => ({ type: 'text', text: `[${line}]` })),
  ])
  expect(channel.lines().toSorted()).toEqual(['answer orchestrator: Seen.', `notice troupe: ${lines.join('\n')}`])
  // A file that is too large is not even asked for, and others are tried again only if they fail.
  expect(channel.read).toEqual(['broken', 'broken', ...names].map((name) => `ref of ${name}`))
  await stop()
})

it('the files of a message share one limit', async () => {
  const { send, channel, model, stop } = await open([ok], () => new Uint8Array(11 * 1024 ** 2).fill(65))
  await send('Both', [file('one.txt', 'text/plain'), file('two.txt', 'text/plain')])
  await channel.until(2)
  expect(partsIn(model.requests[0])).toMatchObject([
    {},
    { name: 'one.txt' },
    { type: 'text', text: expect.stringContaining('"two.txt" was not') },
  ])
  await stop()
})

it('a read that hangs is ended and tried again', async () => {
  const clock = new FakeClock()
  const ended: boolean[] = []
  const { send, channel, model, stop } = await open(
    [ok],
    (_, signal) => {
      if (ended.length === 1) return png
      const { promise } = Promise.withResolvers<Uint8Array>()
      signal.addEventListener('abort', () => ended.push(true))
      return promise
    },
    { clock },
  )
  await send('Look', [file('a.png')])
  await expect
    .poll(async () => {
      await clock.elapse(10_000)
      return channel.messages.length
    })
    .toBe(1)
  expect(partsIn(model.requests[0])).toMatchObject([{}, { type: 'image' }])
  await stop()
})

it('files that take too long hold up nothing for more than a minute', async () => {
  const clock = new FakeClock()
  const { send, channel, model, stop } = await open([ok, ok], () => Promise.withResolvers<Uint8Array>().promise, { clock })
  await send(
    'Look',
    Array.from({ length: 10 }, (_, index) => file(`${index}.png`)),
  )
  await send('And this', [])
  for (let second = 0; second < 61; second++) await clock.elapse(1_000)
  await channel.until(2)
  const [first, ...others] = partsIn(model.requests[0]).slice(1) as readonly { readonly text: string }[]
  expect(first?.text).toContain('"0.png" was not sent to the agent: it could not be read: no answer within')
  const late = (_: unknown, index: number) =>
    `"${index + 1}.png" was not sent to the agent: reading the files of this message took too long.`
  expect(others.map(({ text }) => text)).toEqual(Array.from({ length: 9 }, late).map((line) => expect.stringContaining(line)))
  await stop()
})

it('a message with files waits for its channel after a restart, and is sent once', async () => {
  const store = memoryStore()
  const first = await open([], () => png, { store })
  await first.stop()
  await first.send('Look', [file('a.png')], '1')
  const second = await stage(store, [ok])
  const channel = new FileChannel(() => png)
  expect(second.model.requests).toHaveLength(0)
  second.router.register('chat', channel)
  await channel.until(1)
  await second.router.receive('chat', { userId: 'ann', text: 'Look', files: [file('a.png')], messageId: '1' })
  expect(partsIn(second.model.requests[0])).toMatchObject([{ text: 'Look' }, { type: 'image' }])
  expect(second.model.requests).toHaveLength(1)
  await second.stop()
})

it('a channel that is removed while it reads is asked again when it is back', async () => {
  const reading = gate()
  let hangs = true
  const { send, channel, model, router, remove, stop } = await open([ok], () => {
    reading.open()
    return hangs ? Promise.withResolvers<Uint8Array>().promise : png
  })
  await send('Look', [file('a.png')])
  await reading.promise
  hangs = false
  remove()
  router.register('chat', channel)
  await channel.until(1)
  expect(channel.read).toHaveLength(2)
  expect(partsIn(model.requests[0])).toMatchObject([{ text: 'Look' }, { type: 'image' }])
  await stop()
})

it.each(['start', 'send'] as const)('a crash after `%s` sends the message once, also if its file is another one then', async (method) => {
  const store = memoryStore()
  // The session has the message, and the process ends before the router knows.
  const dying =
    <Given extends readonly unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      await work(...given)
      throw new TroupeError('runtime_closed', 'The process has ended.')
    }
  const before = await open([{ text: 'Hello.' }, ok], () => png, {
    store,
    sessions: ({ start, send }) => (method === 'start' ? { start: dying(start) } : { send: dying(send) }),
  })
  if (method === 'send') {
    await before.send('Hi', [])
    await before.channel.until(1)
  }
  await before.send('Look', [file('a.png')], '1')
  await expect.poll(() => before.model.requests.length).toBe(method === 'send' ? 2 : 1)
  const [session] = await before.sessions.list()
  await before.sessions.outcome(session?.sessionId ?? '')
  await before.stop()
  const after = await open([ok], () => bytesOf('gone'), { store })
  await expect.poll(() => after.channel.read.length).toBe(1)
  await after.send('And?', [])
  await expect.poll(() => after.model.requests.length).toBe(1)
  expect(JSON.stringify(after.model.requests[0]?.messages).match(/"Look"/g)).toHaveLength(1)
  expect(await after.sessions.list()).toHaveLength(1)
  expect(after.channel.lines().filter((line) => line.startsWith('error'))).toEqual([])
  await after.stop()
})

it('files are no answer: they are read when the request is answered', async () => {
  const ask: Tool = {
    name: 'ask',
    description: 'Asks',
    inputSchema: { type: 'object' },
    effect: 'write',
    execute: async (_, context) => JSON.stringify(await context.ask({ text: 'Which city?' })),
  }
  const { send, channel, model, stop } = await open([{ calls: [{ tool: 'ask' }] }, ok], () => png, { tools: [ask] })
  await send('Go', [])
  await channel.until(1)
  await send('This one', [file('a.png')])
  await channel.until(2)
  expect(channel.lines()[1]).toBe('notice troupe: The agent reads your files when the open request is answered.')
  await send('Oslo', [])
  await channel.until(3)
  expect(partsIn(model.requests[1])).toMatchObject([{ text: 'This one' }, { type: 'image' }])
  await stop()
})

it('a channel that cannot read files sends the texts', async () => {
  const { send, channel, model, stop } = await open([ok])
  await send('Look', [file('a.png')])
  await channel.until(2)
  expect(partsIn(model.requests[0])).toMatchObject([{ text: 'Look' }, { text: expect.stringContaining('its channel cannot read files') }])
  await stop()
})
