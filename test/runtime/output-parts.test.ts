import { describe, expect, it } from 'vitest'
import type { BlobId, InputPart, InteractionEvent, ModelAbility, ModelRequest, Store, ToolPart, TreeId } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { ScriptedModel, type ScriptedStep } from '../../src/testing/index.ts'
import { dataFolder } from '../fixtures/data-folder.ts'
import { png, pngBase64, pngOf } from '../fixtures/pictures.ts'
import { runtimeWith, tool } from './helpers.ts'
import { asksForSummary, windowed } from './windows.ts'

const sees: readonly ModelAbility[] = ['tools', 'images', 'files']
const use: ScriptedStep = { calls: [{ tool: 'camera' }] }
const done: ScriptedStep = { text: 'Done.' }
const camera = (parts: readonly ToolPart[], content = '') =>
  tool('camera', { repeatable: true, execute: () => ({ ok: true, content, parts }) })
const picture: ToolPart = { type: 'image', mediaType: 'image/png', data: png, name: 'a.png' }
const megabyte = 1024 ** 2

interface Setup {
  readonly abilities?: readonly ModelAbility[]
  readonly steps?: readonly ScriptedStep[]
  readonly store?: Store
  readonly input?: string | readonly InputPart[]
  readonly config?: Parameters<typeof runtimeWith>[1] extends infer Options ? Options : never
}

async function run(
  parts: readonly ToolPart[],
  { abilities = sees, steps = [use, done], store = memoryStore(), input = 'Look.', config }: Setup = {},
) {
  const model = new ScriptedModel(steps, { abilities })
  const runtime = runtimeWith(model, { tools: [camera(parts)], ...config, store })
  const outcome = await runtime.run(input)
  await runtime.close()
  const treeId = outcome.sessionId
  const events = await store.journal.read(treeId, 0)
  return {
    outcome,
    treeId,
    events,
    store,
    requests: model.requests,
    get record() {
      return recordIn(events)
    },
  }
}

function recordIn(events: readonly InteractionEvent[]) {
  const item = events.flatMap((event) => (event.type === 'interaction.item.completed' && event.item.kind === 'call' ? [event.item] : []))[0]
  return item ?? expect.unreachable('no call was recorded')
}

const resultsIn = (request: ModelRequest | undefined) =>
  request?.messages.flatMap((message) => (message.role === 'tool' ? message.results : [])) ?? []
const dataIn = (request: ModelRequest | undefined): readonly string[] =>
  resultsIn(request).flatMap(({ parts = [] }) => parts.flatMap((part) => ('data' in part && part.data !== undefined ? [part.data] : [])))

describe('parts of an output', () => {
  it('are recorded with handles, and the bytes are in the blob store', async () => {
    const link = { type: 'link', uri: 'https://example.com/report', name: 'Report' } as const
    const { record, events, store, treeId } = await run([{ type: 'text', text: 'Before' }, picture, { type: 'text', text: 'After' }, link])
    const { blob } = record.parts?.find((part) => 'blob' in part) ?? expect.unreachable()
    expect(record.parts).toEqual([
      { type: 'text', text: 'Before' },
      { type: 'image', mediaType: 'image/png', blob, bytes: png.length, name: 'a.png' },
      { type: 'text', text: 'After' },
      link,
    ])
    expect(record.content).toBe(
      `Before\n["a.png", image/png, ${png.length} B, handle ${blob}]\nAfter\n[link, "Report", https://example.com/report]`,
    )
    expect(await store.blobs.getBytes(treeId, blob)).toEqual({ mediaType: 'image/png', bytes: new Uint8Array(png) })
    expect(JSON.stringify(events)).not.toContain(pngBase64.slice(0, 20))
  })

  it('add lines to a content that the tool gave; text parts are not repeated', async () => {
    const said = tool('camera', { execute: () => ({ ok: true, content: 'Seen.', parts: [{ type: 'text', text: 'twice' }, picture] }) })
    const { record } = await run([], { config: { tools: [said] } })
    expect(record.content).toMatch(/^Seen\.\n\["a\.png", image\/png, \d+ B, handle \S+\]$/)
  })

  it('without bytes or links are the same as a text', async () => {
    const { record, requests } = await run([
      { type: 'text', text: 'One' },
      { type: 'text', text: 'Two' },
    ])
    expect(record).toMatchObject({ content: 'One\nTwo', bytesOut: 7 })
    expect(record).not.toHaveProperty('parts')
    expect(resultsIn(requests[1])).toEqual([{ id: 'call_1', name: 'camera', ok: true, content: 'One\nTwo' }])
  })

  it('belong to failures, too', async () => {
    const error = { class: 'failed', message: 'The page did not load.' } as const
    const failing = tool('camera', { execute: () => ({ ok: false, error, parts: [picture] }) })
    const { record, requests } = await run([], { config: { tools: [failing] } })
    expect(record).toMatchObject({ status: 'failed', error, parts: [{ type: 'image' }] })
    expect(record.content).toMatch(/did not load[\s\S]*handle/)
    expect(dataIn(requests[1])).toEqual([pngBase64])
  })

  it.each([
    ['a list of numbers', [1]],
    ['base64', [{ type: 'image', mediaType: 'image/png', data: pngBase64 }]],
    ['no list', 'x'],
  ])('that are %s fail the call, and the tool is named', async (_, parts) => {
    const { record, outcome } = await run(parts as never)
    expect(record).toMatchObject({ status: 'failed', error: { message: expect.stringMatching(/camera.*parts/) } })
    expect(outcome.diagnostics).toMatchObject([{ code: 'tool_output_invalid' }])
  })

  it('beyond a limit are dropped, and a text says so', async () => {
    const large = (bytes: number, number: number): ToolPart => ({ type: 'image', mediaType: 'image/png', data: pngOf(bytes, number) })
    const { record } = await run([
      large(11 * megabyte, 0),
      large(9 * megabyte, 1),
      large(9 * megabyte, 2),
      large(3 * megabyte, 3),
      { type: 'image', mediaType: 'image/png', data: new Uint8Array() },
    ])
    expect(record.content.split('\n')).toEqual([
      '[image, 11 MB: dropped, it is larger than 10 MB]',
      expect.stringMatching(/^\[image\/png, 9 MB, handle/),
      expect.stringMatching(/^\[image\/png, 9 MB, handle/),
      '[image, 3 MB: dropped, the parts of this call are larger than 20 MB]',
      '[image, 0 B: dropped, it is empty]',
    ])
    expect(record.parts?.map(({ type }) => type)).toEqual(['text', 'image', 'image', 'text', 'text'])
  })

  it('beyond 50 are dropped', async () => {
    const many = Array.from({ length: 52 }, (_, index): ToolPart => ({ type: 'image', mediaType: 'image/png', data: pngOf(20, index) }))
    const { record } = await run(many)
    expect(record.parts?.filter(({ type }) => type === 'image')).toHaveLength(50)
    expect(record.content).toContain('dropped, a call may return 50 such parts')
  })

  it('are redacted: texts, names, addresses and text files', async () => {
    const secret = 'kEy0fThisTest+7c1d9b5a'
    const parts: readonly ToolPart[] = [
      { type: 'text', text: `key ${secret}` },
      { type: 'link', uri: `https://example.com/?k=${secret}`, name: secret },
      { type: 'file', mediaType: 'text/csv', data: Buffer.from(`a,${secret}`), name: `${secret}.csv` },
      { type: 'image', mediaType: 'image/svg+xml', data: Buffer.from(`a,${secret}`) },
      { ...picture, name: secret },
    ]
    const { events, requests, store, treeId, record } = await run(parts, {
      config: { tools: [camera(parts)], config: { overlay: { API_KEY: secret } } },
    })
    expect(JSON.stringify([events, requests])).not.toContain(secret)
    const file = record.parts?.find((part) => part.type === 'file')
    const drawing = record.parts?.find((part) => 'mediaType' in part && part.mediaType === 'image/svg+xml')
    const stored = await store.blobs.get(treeId, (file as { readonly blob: BlobId }).blob)
    const drawn = await store.blobs.getBytes(treeId, (drawing as { readonly blob: BlobId }).blob)
    for (const text of [stored, new TextDecoder().decode(drawn?.bytes)]) {
      expect(text).toMatch(/^a,\S+$/)
      expect(text).not.toContain(secret)
    }
  })

  it('of an image that is none, or of another type, are what their bytes say', async () => {
    const jpeg = Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3, 4])
    const { record, requests } = await run([
      { type: 'image', mediaType: 'image/png', data: Buffer.from('no picture') },
      { type: 'image', mediaType: 'image/png', data: jpeg },
      { type: 'file', mediaType: 'Application/Octet-Stream; x=1', data: png },
      { type: 'image', mediaType: 'image/svg+xml', data: Buffer.from('<svg/>') },
      { type: 'audio', mediaType: '../../etc', data: Buffer.from('x') },
    ])
    expect(record.parts?.map((part) => [part.type, 'mediaType' in part && part.mediaType])).toEqual([
      ['file', 'application/octet-stream'],
      ['image', 'image/jpeg'],
      ['image', 'image/png'],
      ['image', 'image/svg+xml'],
      ['audio', 'application/octet-stream'],
    ])
    expect(dataIn(requests[1])).toEqual([Buffer.from(jpeg).toString('base64'), pngBase64])
  })
})

describe('a request', () => {
  it('has the bytes for a model that reads images, in every later step', async () => {
    const { requests } = await run([picture], { steps: [use, use, done] })
    expect(requests.map((request) => dataIn(request))).toEqual([[], [pngBase64], [pngBase64, pngBase64]])
  })

  it.each([
    [['tools'], 0],
    [['tools', 'images'], 1],
    [['tools', 'files'], 1],
    [sees, 2],
  ] as const)('to a model with %j has the parts that it reads', async (abilities, count) => {
    const pdf: ToolPart = { type: 'file', mediaType: 'application/pdf', data: Buffer.from('%PDF-1.7 …') }
    const { requests } = await run([picture, pdf], { abilities })
    expect(dataIn(requests[1])).toHaveLength(count)
    expect(resultsIn(requests[1])[0]?.content).toMatch(/image\/png.*\n.*application\/pdf/)
  })

  it('has at most 20 MB: older images are lines of text, and they leave in blocks', async () => {
    let shot = 0
    const shoot = tool('camera', {
      repeatable: true,
      execute: () => ({ ok: true, content: '', parts: [{ type: 'image', mediaType: 'image/png', data: pngOf(3 * megabyte, shot++) }] }),
    })
    const { requests } = await run([], { steps: [...Array.from({ length: 12 }, () => use), done], config: { tools: [shoot] } })
    const counts = requests.map((request) => dataIn(request).length)
    expect(Math.max(...counts) * 3).toBeLessThanOrEqual(20)
    expect(counts.slice(0, 7)).toEqual([0, 1, 2, 3, 4, 5, 6])
    expect(counts.slice(7).every((count) => count >= 2)).toBe(true)
    const newest = resultsIn(requests.at(-1)).map(({ parts }) => parts?.some((part) => 'data' in part && part.data !== undefined))
    expect(newest.lastIndexOf(false)).toBeLessThan(newest.indexOf(true))
  })

  it('after a restart has them again', async () => {
    const folder = await dataFolder()
    const { treeId } = await run([picture], { steps: [use, { text: 'Seen.' }], store: folder.open() })
    const store = folder.open()
    const model = new ScriptedModel([{ text: 'A pixel.' }], { abilities: sees })
    const runtime = runtimeWith(model, { tools: [camera([picture])], store })
    const handle = await runtime.open(treeId)
    await runtime.sessions.send(treeId, 'What was it?')
    expect(await runtime.sessions.outcome(treeId)).toMatchObject({ report: { text: 'A pixel.' } })
    expect(dataIn(model.requests[0])).toEqual([pngBase64])
    await handle.release?.()
    await runtime.close()
  })

  it('after compaction has the line of text, and no bytes of what was dropped', async () => {
    const model = windowed(
      4_000,
      Array.from({ length: 12 }, (_, index) => (request: ModelRequest) => {
        if (asksForSummary(request)) return { text: 'It is green.' }
        return index < 10 ? use : done
      }),
      { abilities: sees },
    )
    const store = memoryStore()
    const runtime = runtimeWith(model, { tools: [camera([picture], 'x'.repeat(2_600))], store })
    const { sessionId } = await runtime.run('Look.')
    const events = await store.journal.read(sessionId as TreeId, 0)
    const compacted = events.find((event) => event.type === 'interaction.context.compacted') ?? expect.unreachable()
    const dropped = await store.blobs.get(sessionId as TreeId, compacted.output?.handle ?? expect.unreachable())
    expect(dropped).toMatch(/\["a\.png", image\/png, \d+ B, handle/)
    expect(JSON.stringify(events)).not.toContain(pngBase64.slice(0, 20))
    const counts = model.requests.map((request) => dataIn(request).length)
    expect(Math.max(...counts)).toBeLessThan(6)
    await runtime.close()
  })

  it('whose bytes are gone has a line of text instead', async () => {
    const inner = memoryStore()
    const store: Store = { ...inner, blobs: { ...inner.blobs, getBytes: () => Promise.reject(new Error('damaged')) } }
    const { outcome, requests } = await run([picture], { store })
    expect(outcome.status).toBe('completed')
    expect(dataIn(requests[1])).toEqual([])
  })
})

describe('read_output', () => {
  const read = (steps: (handle: string) => ScriptedStep, parts: readonly ToolPart[]) => {
    const model = new ScriptedModel(
      [use, (request) => steps(/handle (\S+?)[\]:]/.exec(resultsIn(request)[0]?.content ?? '')?.[1] ?? ''), done],
      { abilities: sees },
    )
    return { model, runtime: runtimeWith(model, { tools: [camera(parts)] }) }
  }
  const reading = (handle: string): ScriptedStep => ({ calls: [{ tool: 'read_output', input: { handle } }] })

  it('says of bytes what they are', async () => {
    const { model, runtime } = read(reading, [{ type: 'file', mediaType: 'application/zip', data: Buffer.from('PK\u0003\u0004') }])
    await runtime.run('Go')
    expect(resultsIn(model.requests[2])[1]).toMatchObject({
      ok: false,
      content: expect.stringMatching(/is application\/zip, 4 B\. It is not text/),
    })
  })

  it('reads a text file', async () => {
    const { model, runtime } = read(reading, [{ type: 'file', mediaType: 'text/csv', data: Buffer.from('a,b\n1,2') }])
    await runtime.run('Go')
    expect(resultsIn(model.requests[2])[1]).toMatchObject({ ok: true, content: expect.stringContaining('1,2') })
  })
})

describe('images and files in an input', () => {
  const userParts = (request: ModelRequest | undefined) =>
    request?.messages.flatMap((message) => (message.role === 'user' ? message.parts : []))
  const image: InputPart = { type: 'image', mediaType: 'image/png', data: pngBase64 }

  it('are stored, and the model gets them as they were given; addresses stay', async () => {
    const input: readonly InputPart[] = [
      { type: 'text', text: 'See:' },
      image,
      { type: 'image', mediaType: 'image/jpeg', data: 'https://example.com/a.jpg' },
      { type: 'file', mediaType: 'text/plain', data: 'data:text/plain,a%20b', name: 'a.txt' },
    ]
    const { events, requests, store, treeId } = await run([], { input, steps: [done] })
    const accepted = events.find((event) => event.type === 'interaction.input.accepted') ?? expect.unreachable()
    expect(accepted.parts).toEqual([
      input[0],
      { ...image, data: expect.stringMatching(/^blob:b[0-9a-f]{32}\.image\.png$/), bytes: png.length },
      input[2],
      { type: 'file', mediaType: 'text/plain', name: 'a.txt', data: expect.stringMatching(/^blob:/), bytes: 3 },
    ])
    const blob = (accepted.parts[1] as { readonly data: string }).data.slice('blob:'.length) as BlobId
    expect((await store.blobs.getBytes(treeId, blob))?.bytes).toEqual(new Uint8Array(png))
    expect(userParts(requests[0])).toEqual([input[0], image, input[2], { ...input[3], data: Buffer.from('a b').toString('base64') }])
    expect(JSON.stringify(events)).not.toContain(pngBase64.slice(0, 20))
  })

  it('have the type of their bytes, and are refused without any: a provider would refuse every later step', async () => {
    const { requests } = await run([], { input: [{ ...image, mediaType: 'image/jpeg' }], steps: [done] })
    expect(userParts(requests[0])).toEqual([image])
    const refused = await runtimeWith(new ScriptedModel([done]), {}).run([{ ...image, data: '!!!' }])
    expect(refused).toMatchObject({
      status: 'failed',
      message: 'Part 1 of the input has no bytes: its data is empty or not base64.',
    })
  })

  it('that are sent later are stored before they enter the inbox', async () => {
    const store = memoryStore()
    const model = new ScriptedModel([done, done], { abilities: sees })
    const runtime = runtimeWith(model, { store })
    const { sessionId } = await runtime.run('Hello')
    await runtime.sessions.send(sessionId, [image])
    await runtime.sessions.outcome(sessionId)
    const inbox = await store.inbox.read(sessionId as TreeId, 0)
    expect(inbox).toMatchObject([{ message: { kind: 'input', parts: [{ data: expect.stringMatching(/^blob:/) }] } }])
    expect(JSON.stringify([inbox, await store.journal.read(sessionId as TreeId, 0)])).not.toContain(pngBase64.slice(0, 20))
    expect(userParts(model.requests[1])).toContainEqual(image)
    await runtime.close()
  })

  it('of a child task are stored', async () => {
    const ask = tool('camera', { execute: async (_, { startChild }) => (await startChild({ agent: 'kid', input: [image] })).kind })
    const agent = { description: 'x', prompt: 'x', model: 'any' }
    const { events, requests } = await run([], {
      steps: [use, done, done],
      config: {
        tools: [ask],
        config: {
          agents: [
            { ...agent, name: 'clerk', agents: ['kid'] },
            { ...agent, name: 'kid', tools: [] },
          ],
        },
      },
    })
    expect(userParts(requests[1])).toEqual([image])
    expect(JSON.stringify(events)).not.toContain(pngBase64.slice(0, 20))
  })

  it.each([
    ['blob: addresses', 'blob:b00'],
    ['21 MB', Buffer.alloc(21 * megabyte).toString('base64')],
  ])('are refused: %s', async (_, data) => {
    const running = run([], { input: [{ ...image, data }], steps: [done] }).then(({ outcome }) => outcome.message ?? '')
    await expect(running.catch((error: Error) => error.message)).resolves.toMatch(
      /neither a string nor a list of parts|21\.0 MB; a part may have 20 MB/,
    )
  })

  it('of a journal with base64 still reach the model', async () => {
    const first = await run([], { input: [image], steps: [done] })
    const old = first.events.map((event) => (event.type === 'interaction.input.accepted' ? { ...event, parts: [image] } : event))
    const { storeOf } = await import('./journals.ts')
    const store = await storeOf(old)
    const model = new ScriptedModel([done], { abilities: sees })
    const runtime = runtimeWith(model, { store })
    await runtime.open(first.treeId)
    await runtime.sessions.send(first.treeId, 'Again?')
    await runtime.sessions.outcome(first.treeId)
    expect(userParts(model.requests[0])).toContainEqual(image)
    await runtime.close()
  })
})
