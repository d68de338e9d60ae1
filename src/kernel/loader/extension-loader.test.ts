import { describe, expect, test } from 'vitest'
import type { AnyExtension, Tool } from '../../contracts/index.ts'
import { gate } from '../../testing/index.ts'
import { foundExtension, testKernel } from './fixtures/test-kernel.ts'

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  inputSchema: { type: 'object', properties: {} },
  execute: () => `${name} done`,
  ...more,
})
const offers = (...names: readonly string[]): AnyExtension => ({ getTools: () => names.map((name) => tool(name)) })
const hang = (): Promise<never> => new Promise(() => {})

test('the life of extensions: dependencies first, stopped in reverse', async () => {
  const life = (log: string[], id: string): AnyExtension =>
    Object.fromEntries(['initialize', 'start', 'stop', 'destroy'].map((stage) => [stage, () => void log.push(`${id}.${stage}`)]))
  const calls: string[] = []
  const kernel = testKernel(
    [foundExtension('a', { dependsOn: ['b'] }), foundExtension('b'), foundExtension('c', { dependsOn: ['a'] })],
    Object.fromEntries(['a', 'b', 'c'].map((id) => [id, life(calls, id)])),
  )
  await kernel.loader.load()
  expect(kernel.log).toEqual(['loading b,a,c', 'b initialize', 'a initialize', 'c initialize'])
  await kernel.loader.start()
  expect(kernel.state()).toEqual({ a: 'running', b: 'running', c: 'running' })
  await kernel.loader.stop()
  expect(calls).toEqual([
    ...['b.initialize', 'a.initialize', 'c.initialize', 'b.start', 'a.start', 'c.start'],
    ...['c.stop', 'c.destroy', 'a.stop', 'a.destroy', 'b.stop', 'b.destroy'],
  ])
  expect(kernel.clock.pending).toBe(0)
})

describe('capabilities', () => {
  test('are detected from the methods, also of a class', async () => {
    class All {
      getTools = () => []
      sendToUser() {}
      async runBackground() {}
      getSchedule = () => '* * * * *'
      execute() {}
      getContext() {}
      getSetupSchema = () => []
      applyConfig() {}
    }
    const kernel = testKernel([foundExtension('all', { agent: {} }), foundExtension('none'), foundExtension('declared', { agent: {} })], {
      all: new All() as AnyExtension,
    })
    await kernel.loader.load()
    expect([...(kernel.loader.get('all')?.capabilities ?? [])]).toEqual([
      'tools',
      'channel',
      'service',
      'scheduler',
      'agent',
      'context',
      'setup',
    ])
    expect([...(kernel.loader.get('none')?.capabilities ?? [])]).toEqual([])
    expect([...(kernel.loader.get('declared')?.capabilities ?? [])]).toEqual(['agent'])
  })

  test('half of one is reported', async () => {
    const kernel = testKernel([foundExtension('half')], {
      half: { getSchedule: () => '', getSetupSchema: () => [], streamToUser() {}, invoke: () => '' },
    })
    await kernel.loader.load()
    expect(kernel.state()).toEqual({ half: 'running' })
    expect(kernel.messages('half')).toEqual([
      expect.stringContaining('without `execute`'),
      expect.stringContaining('without `applyConfig`'),
      expect.stringContaining('without `sendToUser`'),
      expect.stringContaining('without an `agent` section'),
    ])
  })

  test('another integration mode in the descriptor is reported; the manifest wins', async () => {
    const getAgentDescriptor = () => ({ name: 'A', description: 'does', integrationMode: 'handoff' as const })
    const kernel = testKernel([foundExtension('a', { agent: {} })], { a: { getAgentDescriptor, invoke: () => '' } })
    await kernel.loader.load()
    expect(kernel.loader.get('a')?.descriptor?.description).toBe('does')
    expect(kernel.messages('a')).toEqual(['`getAgentDescriptor` says handoff, the manifest says tool, which applies'])
  })

  test('channel, scheduler and service are connected after the start, and disconnected at the stop', async () => {
    const ended = gate()
    const kernel = testKernel([foundExtension('all')], {
      all: {
        sendToUser: () => {},
        getSchedule: () => ({ cron: '0 8 * * *', timeZone: 'UTC' }),
        execute: () => ({ text: 'good morning' }),
        async runBackground(signal) {
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
          ended.open()
        },
      },
    })
    await kernel.loader.load()
    expect(kernel.channels.size + kernel.scheduled.size).toBe(0)
    await kernel.loader.start()
    const scheduled = kernel.scheduled.get('all')
    expect(scheduled?.schedule).toEqual({ cron: '0 8 * * *', timeZone: 'UTC' })
    await scheduled?.execute(7)
    expect(kernel.notices).toEqual([{ text: 'good morning', speaker: 'all', id: 'all@7' }])
    await kernel.channels.get('all')?.sendToUser('u', { id: '1', kind: 'answer', text: 'x', speaker: 'y' })
    expect(kernel.log).toContain('all sendToUser')
    await kernel.loader.stop()
    await ended.promise
    expect(kernel.channels.size + kernel.scheduled.size + kernel.clock.pending).toBe(0)
  })

  test('an extension that finds nobody to talk to in `initialize` is no channel', async () => {
    const silent: AnyExtension = {
      sendToUser: () => {},
      initialize() {
        delete silent.sendToUser
      },
    }
    const kernel = testKernel([foundExtension('silent')], { silent })
    await kernel.loader.load()
    await kernel.loader.start()
    expect(kernel.state()).toEqual({ silent: 'running' })
    expect(kernel.channels.size).toBe(0)
  })
})

test('`invoke` of an agent that hands over is reported: nothing calls it', async () => {
  const kernel = testKernel([foundExtension('a', { agent: { integrationMode: 'handoff' } })], { a: { invoke: () => 'x' } })
  await kernel.loader.load()
  expect(kernel.messages('a')).toEqual([expect.stringContaining('`invoke` has no effect with `integration_mode: handoff`')])
})

test('schedules of the manifest are tasks for the orchestrator', async () => {
  const schedules = [{ id: 'morning', cron: '0 8 * * *', timeZone: 'UTC', task: 'Say hello' }]
  const kernel = testKernel([foundExtension('a', { schedules, agent: {} })])
  await kernel.loader.load()
  await kernel.loader.start()
  const morning = kernel.scheduled.get('a:morning')
  expect(morning?.schedule).toEqual({ cron: '0 8 * * *', timeZone: 'UTC' })
  await morning?.execute(7)
  expect(kernel.log.at(-1)).toBe('task a:morning@7 Say hello')
  await kernel.loader.stop()
  expect(kernel.scheduled.size).toBe(0)
})

describe('a failure', () => {
  const stages = ['initialize', 'getTools', 'getAgentDescriptor', 'start', 'getSchedule'] as const
  const chain = () => [
    foundExtension('bad', { agent: {} }),
    foundExtension('needs', { dependsOn: ['bad'] }),
    foundExtension('deeper', { dependsOn: ['needs'] }),
    foundExtension('other'),
  ]
  const expected = { bad: 'failed', needs: 'failed', deeper: 'failed', other: 'running' }

  test.each(stages.flatMap((stage) => ['throws', 'rejects', 'hangs'].map((how) => [stage, how] as const)))(
    'in %s that %s: dependents fail with it, nobody else',
    async (stage, how) => {
      const wrong = (): unknown => {
        if (how === 'throws') throw new Error('broken pipe')
        return how === 'hangs' ? hang() : Promise.reject(new Error('broken pipe'))
      }
      const kernel = testKernel(chain(), {
        bad: { execute: () => undefined, ...(stage === 'getSchedule' ? {} : { getSchedule: () => '' }), [stage]: wrong },
      })
      const running = kernel.loader.load().then(() => kernel.loader.start())
      await kernel.clock.elapse(10_000)
      await running
      expect(kernel.state()).toEqual(expected)
      expect(kernel.messages('bad').join()).toMatch(how === 'hangs' ? /took longer than 10 s/ : /failed: broken pipe/)
      expect(kernel.messages('needs')).toEqual([expect.stringMatching(/^it needs `bad`, which failed: .*(?:broken pipe|longer)/)])
      expect(kernel.messages('deeper')).toEqual([expect.stringContaining('it needs `needs`, which failed')])
      expect(kernel.changes.map(({ id }) => id).toSorted()).toEqual(['bad', 'deeper', 'needs'])
      await kernel.loader.stop()
      expect(kernel.clock.pending).toBe(0)
    },
  )

  test('one that hangs holds up the others for a second at most, at each stage', async () => {
    const done: string[] = []
    const noted = (id: string): AnyExtension => ({
      initialize: () => void done.push(`initialize ${id}`),
      start: () => void done.push(`start ${id}`),
      stop: () => void done.push(`stop ${id}`),
    })
    const kernel = testKernel([foundExtension('a'), foundExtension('b'), foundExtension('c'), foundExtension('d')], {
      a: { initialize: hang },
      b: { start: hang },
      c: noted('c'),
      d: { ...noted('d'), stop: hang },
    })
    const during = async (work: Promise<void>): Promise<void> => {
      await kernel.clock.elapse(1_000)
      done.push('a second')
      await kernel.clock.elapse(9_000)
      await work
    }
    await during(kernel.loader.load())
    await during(kernel.loader.start())
    await during(kernel.loader.stop())
    const expected = 'initialize c, initialize d, a second, start c, start d, a second, stop c, a second'
    expect(done.join(', ')).toBe(expected)
  })

  test('while it is stopped costs the others nothing', async () => {
    const stopped: string[] = []
    const kernel = testKernel([foundExtension('a'), foundExtension('b'), foundExtension('c')], {
      a: { stop: () => void stopped.push('a') },
      b: { stop: () => hang(), destroy: () => Promise.reject(new Error('x')) },
      c: { stop: () => void stopped.push('c') },
    })
    await kernel.loader.load()
    await kernel.loader.start()
    const stopping = kernel.loader.stop()
    await kernel.clock.elapse(10_000)
    await stopping
    expect(stopped).toEqual(['c', 'a'])
    expect(kernel.messages('b')).toEqual([expect.stringContaining('took longer'), expect.stringContaining('destroy failed: x')])
  })

  test('leaves nothing behind: subscriptions are removed, and the rest is destroyed', async () => {
    const kernel = testKernel([foundExtension('a')], {
      a: {
        initialize: (context) => void context.subscribe('x', () => {}),
        start: () => Promise.reject(new Error('no')),
      },
    })
    await kernel.loader.load()
    expect(kernel.subscribers.size).toBe(1)
    await kernel.loader.start()
    expect([kernel.subscribers.size, kernel.loader.get('a')?.runs, kernel.log.at(-1)]).toEqual([0, 'nowhere', 'a closed'])
  })

  test('before loading: disabled, quarantined, untrusted, broken, missing, in a cycle', async () => {
    const broken = foundExtension('broken', {}, { problems: [{ place: 'p', message: 'unknown key' }] })
    const { manifest: _, ...withoutManifest } = broken
    const untrusted: string[] = []
    const needing = (id: string, ...dependsOn: readonly string[]) => foundExtension(id, { dependsOn })
    const kernel = testKernel(
      [
        foundExtension('off', { enabled: false }),
        foundExtension('bad'),
        foundExtension('untrusted', {}, { trusted: false }),
        withoutManifest,
        needing('d1', 'off'),
        needing('d2', 'bad'),
        needing('d3', 'untrusted'),
        needing('d4', 'broken'),
        needing('d5', 'offf'),
        needing('x', 'y'),
        needing('y', 'x'),
      ],
      {},
      {
        onUntrusted: (ids) => void untrusted.push(...ids),
        quarantineOf: ({ id }) => (id === 'bad' ? 'it took the kernel down' : undefined),
        openUntrusted: undefined as never,
      },
    )
    await kernel.loader.load()
    expect(untrusted).toEqual(['untrusted'])
    expect(kernel.state()).toEqual({
      ...{ off: 'disabled', bad: 'quarantined', untrusted: 'untrusted', broken: 'failed' },
      ...{ d1: 'failed', d2: 'failed', d3: 'failed', d4: 'failed', d5: 'failed', x: 'failed', y: 'failed' },
    })
    const all = kernel.loader
      .list()
      .map(({ found, problems }) => `${found.id}: ${problems.map((each) => `${each.message}. ${each.remedy}`)}`)
    expect(all.join('\n')).toBe(`off: 
bad: it took the kernel down. Fix it, or load it again with: troupe extensions enable bad
untrusted: it is not trusted, and there is no sandbox to run it in. To trust it: troupe extensions trust untrusted
broken: unknown key. undefined
d1: it needs \`off\`, which is disabled. To enable it: troupe extensions enable off
d2: it needs \`bad\`, which is quarantined. Fix \`bad\` first.
d3: it needs \`untrusted\`, which is untrusted. To trust it: troupe extensions trust untrusted
d4: it needs \`broken\`, which failed: unknown key. Fix \`broken\` first.
d5: the extension \`offf\` does not exist. Did you mean "off"? Available: bad, broken, d1, d2, d3, d4, d5, off, untrusted, x, y.
x: the dependencies form a cycle: x → y → x. Remove one of them from \`depends_on\` or \`uses_tools\`.
y: the dependencies form a cycle: y → x → y. Remove one of them from \`depends_on\` or \`uses_tools\`.`)
  })
})

describe('tools', () => {
  test('have full names, and run the original', async () => {
    class Counter {
      #count = 0
      readonly name = 'count'
      readonly description = 'counts'
      readonly inputSchema = { type: 'object' }
      readonly effect = 'read'
      execute(): string {
        return String(++this.#count)
      }
    }
    const kernel = testKernel([foundExtension('kv')], { kv: { getTools: () => [new Counter()] } })
    await kernel.loader.load()
    const [count] = kernel.loader.get('kv')?.tools ?? []
    expect(count).toMatchObject({ name: 'kv__count', namespace: 'kv', description: 'counts', effect: 'read' })
    expect([await count?.execute({}, {} as never), kernel.log.at(-1)]).toEqual(['1', 'kv tool count'])
  })

  test('that are wrong are left out and reported', async () => {
    const wrong = [
      tool('ok'),
      tool('ok'),
      tool('no spaces'),
      tool('x'.repeat(63)),
      tool('bare', { description: '' }),
      null,
      { ...tool('s'), inputSchema: 3 },
    ]
    const kernel = testKernel([foundExtension('kv')], { kv: { getTools: () => wrong as never } })
    await kernel.loader.load()
    expect(kernel.loader.get('kv')?.tools.map(({ name }) => name)).toEqual(['kv__ok'])
    expect(kernel.loader.get('kv')?.problems.map(({ place, message }) => `${place} ${message}`)).toEqual([
      'kv.getTools()[1] there are two tools "ok"',
      'kv.getTools()[2] "no spaces" is not a valid name',
      expect.stringMatching(/^kv\.getTools\(\)\[3\] "x+" is not a valid name$/),
      expect.stringContaining('kv.getTools()[4].description'),
      'kv.getTools()[5] expected a tool, found null',
      expect.stringContaining('kv.getTools()[6].inputSchema'),
    ])
  })

  test('what is no list is reported', async () => {
    const kernel = testKernel([foundExtension('kv')], { kv: { getTools: () => 'none' as never } })
    await kernel.loader.load()
    expect(kernel.messages('kv')).toEqual(['expected a list of tools, found "none"'])
  })

  test('of `uses_tools`, exactly those, are there at `initialize`', async () => {
    const seen: string[] = []
    const kernel = testKernel([foundExtension('a', { agent: { usesTools: ['kv'] } }), foundExtension('files'), foundExtension('kv')], {
      a: { initialize: (context) => void seen.push(...context.resolvedTools.map(({ name }) => name)), ...offers('own') },
      kv: offers('get', 'set'),
      files: offers('read'),
    })
    await kernel.loader.load()
    expect(seen).toEqual(['kv__get', 'kv__set'])
    expect(kernel.loader.get('a')?.resolvedTools.map(({ name }) => name)).toEqual(seen)
  })

  test('an extension without tools, or one that does not exist, fails the agent', async () => {
    const kernel = testKernel(
      [
        foundExtension('a', { agent: { usesTools: ['none'] } }),
        foundExtension('b', { agent: { usesTools: ['kvs'] } }),
        foundExtension('kv'),
        foundExtension('none'),
      ],
      { kv: offers('get') },
    )
    await kernel.loader.load()
    expect(kernel.state()).toEqual({ a: 'failed', b: 'failed', kv: 'running', none: 'running' })
    expect(kernel.loader.get('a')?.problems).toMatchObject([
      { message: '`uses_tools` names `none`, which provides no tools', remedy: 'Extensions with tools: kv.' },
    ])
    expect(kernel.loader.get('b')?.problems).toMatchObject([
      { message: 'the extension `kvs` does not exist', remedy: expect.stringContaining('Did you mean "kv"?') },
    ])
  })
})

test('a service that rejects is started again with growing delays', async () => {
  let runs = 0
  const kernel = testKernel([foundExtension('a')], { a: { runBackground: () => Promise.reject(new Error(`offline ${++runs}`)) } })
  await kernel.loader.load()
  await kernel.loader.start()
  await kernel.clock.elapse(0)
  const after: number[] = [runs]
  for (const ms of [999, 1, 2_000, 4_000]) {
    await kernel.clock.elapse(ms)
    after.push(runs)
  }
  expect(after).toEqual([1, 1, 2, 3, 4])
  expect([kernel.state(), kernel.messages('a')[0]]).toEqual([{ a: 'running' }, 'the service (started again in 1 s) failed: offline 1'])
  await kernel.loader.stop()
  await kernel.clock.elapse(100_000)
  expect([runs, kernel.clock.pending]).toEqual([4, 0])
})

test('health is checked every 30 seconds, and changes are reported', async () => {
  const answers: (() => unknown)[] = [
    () => undefined,
    () => ({ healthy: false, message: 'no connection' }),
    () => {
      throw new Error('no connection')
    },
    hang,
    () => ({ healthy: true }),
  ]
  const kernel = testKernel([foundExtension('a'), foundExtension('b')], { a: { healthCheck: () => answers.shift()?.() as never } })
  await kernel.loader.load()
  await kernel.loader.start()
  const seen: unknown[] = []
  for (let round = 0; round < 5; round++) {
    await kernel.clock.elapse(round === 3 ? 40_000 : 30_000)
    seen.push(kernel.loader.get('a')?.health)
  }
  expect(seen).toEqual([
    { healthy: true },
    { healthy: false, message: 'no connection' },
    { healthy: false, message: 'no connection' },
    { healthy: false, message: '`healthCheck` took longer than 10 s' },
    { healthy: true },
  ])
  expect(kernel.changes.map(({ problems }) => problems.map(({ message }) => message))).toEqual([['it is not healthy: no connection'], []])
  await kernel.loader.stop()
})

test('a hundred extensions: each step once for each', async () => {
  const calls = { initialize: 0, getTools: 0, start: 0, stop: 0 }
  const count = (stage: keyof typeof calls): void => void calls[stage]++
  const code: AnyExtension = {
    initialize: () => count('initialize'),
    getTools() {
      count('getTools')
      return [tool('t')]
    },
    start: () => count('start'),
    stop: () => count('stop'),
  }
  const found = Array.from({ length: 100 }, (_, n) => foundExtension(`e${n}`, { dependsOn: n === 99 ? [] : [`e${n + 1}`] }))
  const kernel = testKernel(found, Object.fromEntries(found.map(({ id }) => [id, code])))
  await kernel.loader.load()
  await kernel.loader.start()
  expect(new Set(Object.values(kernel.state()))).toEqual(new Set(['running']))
  await kernel.loader.stop()
  expect(calls).toEqual({ initialize: 100, getTools: 100, start: 100, stop: 100 })
})
