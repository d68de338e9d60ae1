import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { BlobId, Store, ToolOutput } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { FakeClock } from '../../src/testing/index.ts'
import { bounded, collect, elapsing, expectLegal, journalOf, ofType, resultsIn, temporaryFolder, tool, world } from './support.ts'

vi.setConfig({ testTimeout: 30_000 })

const bytes = (text: string): number => Buffer.byteLength(text)

async function fitted(output: () => ToolOutput | string, limit: number, store: Store = memoryStore()) {
  const { runtime, model } = world({
    store,
    limits: { maxOutputBytes: limit },
    steps: [{ calls: [{ tool: 'big' }] }, { text: 'x' }],
    tools: [tool('big', { execute: output })],
  })
  const outcome = await bounded(runtime.run('go'), 'the run', 20_000)
  expect(outcome.status).toBe('completed')
  const events = await journalOf(store, outcome.sessionId)
  const record = ofType(events, 'interaction.item.completed')[0]?.item
  if (!record || !('content' in record)) return expect.unreachable('no record')
  const shown = resultsIn(model.requests[1])[0]?.content ?? ''
  const blob = record.output ? await store.blobs.get(outcome.sessionId, record.output.handle as BlobId) : undefined
  return { record, shown, blob, events, outcome, store }
}

describe('core.md: oversized output goes to the blob store and is replaced by head, tail and a handle', () => {
  test('an output that fits is shown as it is', async () => {
    const { record, shown } = await fitted(() => 'x'.repeat(1000), 1000)
    expect(shown).toBe('x'.repeat(1000))
    expect(record.output).toBeUndefined()
  })

  test('one that does not: head, tail, handle and true size; never more than the limit; the whole is kept', async () => {
    const text = `HEAD${'m'.repeat(100_000)}TAIL`
    const { record, shown, blob } = await fitted(() => text, 2000)
    expect(bytes(shown)).toBeLessThanOrEqual(2000)
    expect(shown.startsWith('HEAD')).toBe(true)
    expect(shown).toContain('TAIL')
    expect(record.output).toMatchObject({ bytes: text.length })
    expect(shown).toContain(record.output?.handle as string)
    expect(shown).toContain('read_output')
    expect(blob).toBe(text)
    expect(record.bytesOut).toBe(text.length)
  })

  test('50 MB costs that call, not the session; nothing is lost; the journal stays small', async () => {
    const text = `${'0123456789'.repeat(5 * 1024 * 1024)}end`
    const { record, shown, blob, events } = await fitted(() => text, 32_768)
    expect(bytes(shown)).toBeLessThanOrEqual(32_768)
    expect(blob?.length).toBe(text.length)
    expect(blob === text).toBe(true)
    expect(record.output?.bytes).toBe(text.length)
    expect(JSON.stringify(events).length).toBeLessThan(200_000)
  })

  test('50 MB on SQLite', async () => {
    const store = sqliteStore({ path: temporaryFolder() })
    const text = `${'0123456789'.repeat(5 * 1024 * 1024)}end`
    const { blob } = await fitted(() => text, 32_768, store)
    expect(blob === text).toBe(true)
    await store.close()
  })

  test('the limit counts bytes, and no character is cut in two', async () => {
    for (const character of ['é', '€', '𝄞', '👩‍👩‍👧']) {
      const text = character.repeat(20_000)
      const { shown, blob } = await fitted(() => text, 2000)
      expect(bytes(shown), character).toBeLessThanOrEqual(2000)
      expect(shown.isWellFormed(), character).toBe(true)
      expect(shown).not.toContain('\ufffd')
      expect(blob === text).toBe(true)
    }
  })

  test('a failure of 5 MB, in its message, remedy or partial output, is fitted too and nothing of it is lost', async () => {
    const big = `HEAD${'e'.repeat(5_000_000)}TAIL`
    for (const output of [
      { ok: false, error: { class: 'failed', message: big } },
      { ok: false, error: { class: 'failed', message: 'm', remedy: big } },
      { ok: false, error: { class: 'failed', message: 'm' }, partial: big },
    ] as const) {
      const { shown, events, blob } = await fitted(() => output, 2000)
      expect(bytes(shown)).toBeLessThanOrEqual(2000)
      expect(JSON.stringify(events).length).toBeLessThan(200_000)
      expect(blob).toContain('eTAIL')
    }
  })

  test('a thrown error of 5 MB', async () => {
    const { shown, events } = await fitted(() => {
      throw new Error('e'.repeat(5_000_000))
    }, 2000)
    expect(bytes(shown)).toBeLessThanOrEqual(2000)
    expect(JSON.stringify(events).length).toBeLessThan(200_000)
  })

  test('a value of 5 MB does not swell the journal: "Blobs (large outputs, outside the rows)"', async () => {
    const { events } = await fitted(() => ({ ok: true, content: 'small', value: 'v'.repeat(5_000_000) }), 2000)
    expect(JSON.stringify(events).length).toBeLessThan(1_000_000)
  })

  test('very small limits still hold and still name the handle', async () => {
    const { shown, record } = await fitted(() => 'y'.repeat(10_000), 512)
    expect(shown).toContain(record.output?.handle as string)
    expect(bytes(shown)).toBeLessThanOrEqual(512)
  })

  test('a blob that can not be stored costs the call at most', async () => {
    const inner = memoryStore()
    const store: Store = {
      ...inner,
      journal: inner.journal,
      inbox: inner.inbox,
      trees: inner.trees,
      close: () => inner.close(),
      blobs: { ...inner.blobs, put: () => Promise.reject(new Error('disk full')) },
    }
    const { runtime, clock } = world({
      store,
      limits: { maxOutputBytes: 1000 },
      steps: [{ calls: [{ tool: 'big' }] }, { text: 'x' }],
      tools: [tool('big', { execute: () => 'x'.repeat(5000) })],
    })
    const outcome = await elapsing(clock, runtime.run('go'))
    expect(['completed', 'failed']).toContain(outcome.status)
    expectLegal(await journalOf(inner, outcome.sessionId), { settled: outcome.status === 'completed' })
  })
})

describe('read_output can page and search', () => {
  const lines = Array.from({ length: 4000 }, (_, i) => `line ${i} ${i === 2718 ? 'the needle is here' : 'hay'} ${'.'.repeat(i % 40)}`)
  const text = lines.join('\n')
  /** Offers `read_output` by making a big output first; `next` writes the calls from what was offered. */
  const reading = async (
    next: (handle: string, schema: { [key: string]: { type?: string } }, results: readonly string[]) => object | undefined,
    limit = 8000,
    whole = text,
  ) => {
    const store = memoryStore()
    const results: string[] = []
    let handle = ''
    let schema: { [key: string]: { type?: string } } = {}
    const step = (request: Parameters<typeof resultsIn>[0]) => {
      const [result] = resultsIn(request)
      if (handle !== '') results.push(result?.content ?? '')
      else {
        handle =
          /[A-Za-z0-9][\w.:-]*/.exec(
            result?.content.match(/read_output[\s\S]*/)?.[0].replace(/^read_output\W*(handle)?\W*/, '') ?? '',
          )?.[0] ?? ''
        schema = (request?.tools.find(({ name }) => name === 'read_output')?.inputSchema.properties ?? {}) as typeof schema
      }
      const input = next(handle, schema, results)
      return input ? { calls: [{ tool: 'read_output', input }] } : { text: 'x' }
    }
    const { runtime, model } = world({
      store,
      limits: { maxOutputBytes: limit, maxToolTurns: 200 },
      steps: [{ calls: [{ tool: 'big' }] }, ...Array.from({ length: 150 }, () => step)],
      tools: [tool('big', { execute: () => whole })],
    })
    const outcome = await bounded(runtime.run('go'), 'reading', 20_000)
    const [record] = ofType(await journalOf(store, outcome.sessionId), 'interaction.item.completed')
    const stored = record && 'output' in record.item ? record.item.output?.handle : undefined
    return { results, outcome, schema, handle, stored, model, store }
  }

  test('is offered only once there is something to read, and tells its arguments', async () => {
    const { schema, model, stored } = await reading(() => undefined)
    expect(model.requests[0]?.tools.map(({ name }) => name)).not.toContain('read_output')
    expect(model.requests[1]?.tools.map(({ name }) => name)).toContain('read_output')
    expect(Object.keys(schema).length).toBeGreaterThanOrEqual(3)
    expect(stored).toEqual(expect.any(String))
  })

  test('search finds the needle with its place', async () => {
    let stored = ''
    const { results } = await reading((handle, schema, so) => {
      stored = handle
      if (so.length > 0) return undefined
      const query = Object.keys(schema).find((key) => /search|query|pattern|find|grep/.test(key))
      expect(query, JSON.stringify(schema)).toBeDefined()
      return { handle, [query as string]: 'needle' }
    })
    expect(stored).not.toBe('')
    expect(results[0], results[0]).toContain('the needle is here')
  })

  test('a search without a hit says so, and is no failure of the session', async () => {
    const { results, outcome } = await reading((handle, schema, so) => {
      if (so.length > 0) return undefined
      const query = Object.keys(schema).find((key) => /search|query|pattern|find|grep/.test(key)) as string
      return { handle, [query]: 'no such thing anywhere' }
    })
    expect(outcome.status).toBe('completed')
    expect(results[0]?.length).toBeGreaterThan(0)
  })

  /** Follows the calls that read_output itself proposes, until it proposes none. */
  const followed = async (whole: string, limit: number) => {
    let seen = ''
    const { outcome } = await reading(
      (handle, _, so) => {
        const last = so.at(-1)
        if (last === undefined) return { handle }
        seen += last
        const proposal = [...last.matchAll(/read_output (\{[^{}]*\})/g)]
          .map(([, json]) => JSON.parse(json as string) as object)
          .find((each) => Object.keys(each).length > 1)
        return proposal
      },
      limit,
      whole,
    )
    expect(outcome.status).toBe('completed')
    return seen
  }
  test('following what it proposes gives everything back, over many lines: nothing is lost', async () => {
    const seen = await followed(text, 8000)
    const missing = lines.map((_, i) => i).filter((i) => !seen.includes(`line ${i} `))
    expect(missing).toEqual([])
  })

  test('following what it proposes gives everything back, in one long line: nothing is lost', async () => {
    const marks = Array.from({ length: 4000 }, (_, i) => `<${i}>`)
    for (const limit of [8000, 1024]) {
      const seen = await followed(marks.join(''), limit)
      const shown = seen.replace(/ \[columns [^\]]*\][^<]*(?:\{[^}]*\})?[^<]*/g, '')
      const missing = marks.filter((mark) => !shown.includes(mark))
      // A mark may be cut at the border of two pages; a gap of many is a loss.
      expect(missing.length, `limit ${limit}: ${missing.slice(0, 3)} … ${missing.slice(-3)}`).toBeLessThan(60)
    }
  })

  test('its own output keeps to the limit, also where the whole is a single line', async () => {
    const { results } = await reading((handle, _, so) => (so.length === 0 ? { handle } : undefined), 4000, 'z'.repeat(1_000_000))
    expect(bytes(results[0] as string)).toBeLessThanOrEqual(4000)
    expect(results[0]).toContain('zzzz')
  })

  test('an unknown handle is an error that a model can act on', async () => {
    const { results } = await reading((_, __, so) => (so.length === 0 ? { handle: 'nope' } : undefined))
    expect(results[0]).toMatch(/nope[\s\S]*handle/)
  })

  test('nonsense for paging or a broken pattern costs that call only', async () => {
    const { results, outcome } = await reading((handle, schema, so) => {
      const keys = Object.keys(schema).filter((key) => key !== 'handle' && key !== 'reason')
      const inputs = [
        ...keys.map((key) => ({ handle, [key]: schema[key]?.type === 'string' ? '((((' : -5 })),
        ...keys.map((key) => ({ handle, [key]: schema[key]?.type === 'string' ? '(a+)+$' : 1e15 })),
      ]
      return inputs[so.length]
    })
    expect(outcome.status).toBe('completed')
    expect(results.length).toBeGreaterThan(2)
  })

  test('a handle of another tree can not be read', async () => {
    const store = memoryStore()
    const { runtime, model } = world({
      store,
      limits: { maxOutputBytes: 1000 },
      steps: [
        { calls: [{ tool: 'big' }] },
        { text: 'x' },
        { calls: [{ tool: 'big' }] },
        () => ({ calls: [{ tool: 'read_output', input: { handle: foreign } }] }),
        { text: 'x' },
      ],
      tools: [tool('big', { execute: () => `${secret}${'x'.repeat(5000)}` })],
    })
    let secret = 'first tree'
    const first = await bounded(runtime.run('one'))
    const record = ofType(await journalOf(store, first.sessionId), 'interaction.item.completed')[0]?.item
    const foreign = record && 'output' in record ? (record.output?.handle as string) : ''
    secret = 'second tree'
    await bounded(runtime.run('two'))
    const said = resultsIn(model.requests.at(-1))[0]
    if (said?.ok) expect(said.content).not.toContain('first tree')
  })

  test('an own tool of the name read_output is refused at load, or at least never offered twice', async () => {
    const make = () =>
      world({
        limits: { maxOutputBytes: 1000 },
        steps: [{ calls: [{ tool: 'big' }] }, { text: 'x' }],
        tools: [tool('big', { execute: () => 'x'.repeat(5000) }), tool('read_output')],
      })
    let made: ReturnType<typeof make>
    try {
      made = make()
    } catch (error) {
      expect(String(error)).toContain('read_output')
      return
    }
    await bounded(made.runtime.run('go'))
    const names = made.model.requests[1]?.tools.map(({ name }) => name) ?? []
    expect(names).toEqual([...new Set(names)])
  })
})

describe('core.md: secrets are redacted when output comes in, so journal and model see the same', () => {
  const secret = 'sk-live-4f9d8e7c6b5a'
  const leaky = (
    what: 'content' | 'value' | 'message' | 'remedy' | 'partial' | 'throw' | 'throw text' | 'progress' | 'details' | 'big' | 'nested value',
  ) =>
    tool('leak', {
      ...(what === 'details' && { view: () => ({ type: 'command_execution' as const, details: { command: `curl -H ${secret}` } }) }),
      execute: (_, { overlay, progress }): ToolOutput | string => {
        const key = overlay.API_KEY as string
        if (what === 'content') return `key is ${key}, again ${key}`
        if (what === 'value') return { ok: true, content: 'ok', value: { key } }
        if (what === 'nested value') return { ok: true, content: 'ok', value: [{ [key]: [`a ${key} b`] }] }
        if (what === 'message') return { ok: false, error: { class: 'auth', message: `refused: ${key}` } }
        if (what === 'remedy') return { ok: false, error: { class: 'auth', message: 'no', remedy: `not ${key}` } }
        if (what === 'partial') return { ok: false, error: { class: 'auth', message: 'no' }, partial: `got ${key}` }
        if (what === 'throw') throw new Error(`refused: ${key}`, { cause: key })
        if (what === 'throw text') throw `refused: ${key}`
        if (what === 'progress') progress(`using ${key}`)
        if (what === 'big') return `${'x'.repeat(990)}${key}${'y'.repeat(50_000)}${key}${'z'.repeat(100)}`
        return 'ok'
      },
    })
  for (const what of [
    'content',
    'value',
    'nested value',
    'message',
    'remedy',
    'partial',
    'throw',
    'throw text',
    'progress',
    'details',
    'big',
  ] as const)
    test(`in ${what}: neither events, nor requests, nor blobs, nor the outcome have it`, async () => {
      const folder = temporaryFolder()
      const store = sqliteStore({ path: folder })
      const { runtime, model } = world({
        store,
        config: { overlay: { API_KEY: secret } },
        limits: { maxOutputBytes: 2000 },
        steps: [{ calls: [{ tool: 'leak' }] }, { text: 'x' }],
        tools: [leaky(what)],
      })
      const handle = runtime.stream('go')
      const events = await bounded(collect(handle))
      const outcome = await handle.outcome
      expect(outcome.status).toBe('completed')
      expect(JSON.stringify(events), 'events').not.toContain(secret)
      expect(JSON.stringify(model.requests), 'requests').not.toContain(secret)
      expect(JSON.stringify(outcome), 'outcome').not.toContain(secret)
      await runtime.close()
      await store.close()
      for (const file of filesIn(folder)) expect(readFileSync(file).includes(secret), file).toBe(false)
      if (what === 'content') {
        expect(resultsIn(model.requests[1])[0]?.content).toMatch(/^key is .+, again .+$/)
        expect(JSON.stringify(events), 'which variable it was may be told').toContain('key is ')
      }
    })

  test('ordinary short values do not garble outputs', async () => {
    const { runtime, model } = world({
      config: { overlay: { DEBUG: '1', LANG: 'en', EMPTY: '', MODE: 'on' } },
      steps: [{ calls: [{ tool: 'say' }] }, { text: 'x' }],
      tools: [tool('say', { execute: () => '1 of 11 men is on the pen; true' })],
    })
    await bounded(runtime.run('go'))
    expect(resultsIn(model.requests[1])[0]?.content).toBe('1 of 11 men is on the pen; true')
  })

  test('of two secrets of which one contains the other, nothing is left of either', async () => {
    const { runtime, model } = world({
      config: { overlay: { A_TOKEN: 'abcdef123456', B_TOKEN: 'abcdef123456-longer-7890' } },
      steps: [{ calls: [{ tool: 'say' }] }, { text: 'x' }],
      tools: [tool('say', { execute: (_, { overlay }) => `${overlay.B_TOKEN} and ${overlay.A_TOKEN}` })],
    })
    await bounded(runtime.run('go'))
    expect(resultsIn(model.requests[1])[0]?.content).not.toMatch(/abcdef123456|longer-7890/)
  })

  test('a secret with characters that JSON escapes is found in JSON output too', async () => {
    const key = 'p"ss\\word-with-quotes'
    const { runtime, model } = world({
      config: { overlay: { PASSWORD: key } },
      steps: [{ calls: [{ tool: 'say' }] }, { text: 'x' }],
      tools: [tool('say', { execute: (_, { overlay }) => JSON.stringify({ password: overlay.PASSWORD }) })],
    })
    await bounded(runtime.run('go'))
    expect(resultsIn(model.requests[1])[0]?.content).not.toContain(JSON.stringify(key).slice(1, -1))
  })

  const wider: { [what: string]: Parameters<typeof world>[0] } = {
    'a hook’s context ("journal and model see the same")': {
      hooks: [{ name: 'h', onFailure: 'open', afterCall: () => ({ kind: 'context', text: `seen ${secret}` }) }],
    },
    'a hook’s block': { hooks: [{ name: 'h', onFailure: 'open', beforeCall: () => ({ kind: 'block', reason: `not ${secret}` }) }] },
    'a hook’s error': {
      hooks: [
        {
          name: 'h',
          onFailure: 'closed',
          beforeCall: () => {
            throw new Error(`GET /?key=${secret} failed`)
          },
        },
      ],
    },
    'an approval’s summary and keys': {
      approver: { decide: () => ({ decision: { kind: 'approve', breadth: 'session' }, by: 'me' }) },
      tools: [tool('ask', { approval: () => ({ keys: [{ key: `header:${secret}`, label: secret }], summary: `Send ${secret}` }) })],
    },
    'the model’s own error': { steps: [{ fault: { class: 'network', message: `GET https://host/?key=${secret} failed` } }, { text: 'x' }] },
    'an approver’s error': {
      approver: {
        decide: () => {
          throw new Error(`POST /?key=${secret} failed`)
        },
      },
      tools: [tool('ask', { approval: () => ({ keys: [], summary: 's' }) })],
    },
  }
  for (const [what, setup] of Object.entries(wider))
    test(`in ${what}`, async () => {
      const clock = new FakeClock()
      const { runtime, model } = world({
        clock,
        config: { overlay: { API_KEY: secret } },
        steps: [{ calls: [{ tool: 'ask' }] }, { text: 'x' }],
        tools: [tool('ask')],
        ...setup,
      })
      const handle = runtime.stream('go')
      const events = collect(handle)
      const outcome = await elapsing(clock, handle.outcome, [100, 100])
      const leaks = (await bounded(events)).filter((event) => JSON.stringify(event).includes(secret)).map(({ type }) => type)
      expect({
        leaks,
        requests: JSON.stringify(model.requests).includes(secret),
        outcome: JSON.stringify(outcome).includes(secret),
      }).toEqual({
        leaks: [],
        requests: false,
        outcome: false,
      })
    })
})

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true })
    .map((name) => path.join(folder, String(name)))
    .filter((name) => statSync(name).isFile())
}
