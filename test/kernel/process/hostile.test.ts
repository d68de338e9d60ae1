// Processes that break the protocol: the extension fails with a reason, the kernel goes on.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FakeClock } from '../../../src/testing/index.ts'
import { extensionStage, main, recordedContext, runTool, type Stage, toolContext, withTool } from './extension-stage.ts'

let stage: Stage
beforeEach(() => {
  stage = extensionStage()
})
afterEach(() => stage.remove())

/** Writes to the descriptor of the runner. */
const writeAll = `import { writeSync } from 'node:fs'
const writeAll = (text) => {
  let rest = Buffer.from(text)
  while (rest.length > 0) try { rest = rest.subarray(writeSync(3, rest)) } catch {}
}`
/** A tool that sends a line to the kernel, past the runner. */
const sending = (line: string): string => withTool(`writeAll(${line} + '\\n'); await new Promise(() => {})`, writeAll)

describe('a message that breaks the protocol', () => {
  it.each([
    ['is not JSON', `'garbage'`, 'it sent a line that is not JSON'],
    ['is not a message', `'[1]'`, 'it sent JSON that is not a message'],
    ['answers a call that does not exist', `'{"jsonrpc":"2.0","id":99,"result":1}'`, 'it answers a call that does not exist'],
    ['answers without an id', `'{"jsonrpc":"2.0","result":1}'`, 'it answers a call that does not exist'],
    ['changes prototypes', `'{"jsonrpc":"2.0","method":"log","params":{"fields":{"__proto__":{"x":1}}}}'`, 'it sent the key __proto__'],
    ['hides a key in escapes', `'{"jsonrpc":"2.0","method":"log","params":{"\\\\u005f_proto__":1}}'`, 'it sent the key __proto__'],
    [
      'is nested too deep',
      `'{"jsonrpc":"2.0","method":"log","params":{"a":' + '['.repeat(1e5) + ']'.repeat(1e5) + '}}'`,
      'nested deeper than 64',
    ],
    ['has wrong params', `'{"jsonrpc":"2.0","method":"log","params":7}'`, '`method` or `params` is wrong'],
    ['names an unknown method', `'{"jsonrpc":"2.0","method":"shutdown"}'`, 'the context has no method shutdown'],
    ['logs without a level', `'{"jsonrpc":"2.0","method":"log","params":{"message":"x"}}'`, 'level is not one of debug'],
    ['has a text as id', `'{"jsonrpc":"2.0","id":"x","method":"publish","params":{}}'`, 'the `id` of a request is wrong'],
    [
      'uses an id twice',
      `('{"jsonrpc":"2.0","id":900,"method":"notifyUser","params":{"text":"x"}}\\n').repeat(2)`,
      'the `id` of a request is wrong',
    ],
    [
      'is one of too many requests',
      `Array.from({ length: 40 }, (_, n) => '{"jsonrpc":"2.0","id":' + (900 + n) + ',"method":"notifyUser","params":{"text":"x"}}').join('\\n')`,
      'more than 32 requests at once',
    ],
    [
      'subscribes too often',
      `Array.from({ length: 101 }, (_, n) => '{"jsonrpc":"2.0","method":"subscribe","params":{"subscription":' + n + ',"name":"x"}}').join('\\n')`,
      'more than 100 subscriptions',
    ],
    ['is longer than a line may be', `'"' + 'x'.repeat(5 * 1024 * 1024)`, 'it sent a line of more than 4 MB'],
    [
      'answers twice',
      `'{"jsonrpc":"2.0","id":3,"result":"one"}\\n{"jsonrpc":"2.0","id":3,"result":"two"}'`,
      'it answers a call that does not exist',
    ],
  ])('%s', async (_, line, reason) => {
    const { instance, ended } = await stage.open(sending(line))
    const never = recordedContext({ notifyUser: () => new Promise(() => {}) })
    const result = await runTool(instance, {}, { call: toolContext(), context: never })
    expect(await ended).toContain(reason)
    if (result !== 'one') expect(result).toMatchObject({ ok: false, error: { message: expect.stringContaining(reason) } })
    await expect(instance.healthCheck?.()).rejects.toThrow(reason)
    expect(({} as { x?: unknown }).x).toBeUndefined()
  })
})

describe('a result of the wrong shape', () => {
  const call = { signal: new AbortController().signal, person: undefined, correlationId: 'c', progress() {} }
  it.each([
    ['getTools', `getTools() { return [{ name: 'a b', description: '', inputSchema: {} }] }`, 'getTools[0].name is not a name of letters'],
    ['getTools', `getTools() { return [{ name: 'a', description: 1, inputSchema: {} }] }`, 'getTools[0].description is not a text'],
    ['getTools', `getTools() { return [{ name: 'a', description: '', inputSchema: { type: 'array' } }] }`, 'getTools[0].inputSchema'],
    ['getTools', `getTools() { return [1, 2].map(() => ({ name: 'a', description: '', inputSchema: {} })) }`, 'two tools with the name a'],
    [
      'getTools',
      `getTools() { return Array.from({ length: 101 }, (_, n) => ({ name: 'a' + n, description: '', inputSchema: {} })) }`,
      'getTools is not a list of at most 100',
    ],
    ['invoke', `invoke() { return 7 }`, 'invoke is not an object'],
    ['invoke', `invoke() { return { status: 'great', content: '' } }`, 'invoke.status is not one of'],
    [
      'invoke',
      `invoke() { return { status: 'completed', content: 'x'.repeat(200_001) } }`,
      'invoke.content is not a text of at most 200000',
    ],
    ['invoke', `invoke() { const a = {}; a.a = a; return a }`, 'circular'],
    ['getContext', `getContext() { return 'text' }`, 'getContext is not an object'],
    ['getSchedule', `getSchedule() { return { cron: 5 } }`, 'getSchedule.cron is not a text'],
    ['execute', `execute() { return { text: null } }`, 'execute.text is not a text'],
    ['healthCheck', `healthCheck() { return { healthy: 'yes' } }`, 'healthCheck.healthy is not true or false'],
    ['initialize', `getAgentDescriptor() { return { name: 'x' } }`, 'initialize.descriptor.description is not a text'],
  ] as const)('%s: %s', async (method, members, reason) => {
    const { instance } = await stage.open(main(members))
    const answer = async () =>
      (instance[method] as (...given: unknown[]) => unknown)(...(method === 'invoke' ? ['x', undefined, call] : [recordedContext()]))
    await expect(answer()).rejects.toThrow(reason)
  })

  it('a tool', async () => {
    const { instance } = await stage.open(withTool(`return { ok: false, error: { class: 'magic', message: 'x' } }`))
    expect(await runTool(instance)).toMatchObject({ ok: false, error: { message: expect.stringContaining('error.class is not one of') } })
  })
})

describe('a process', () => {
  it('that exits fails its calls, with what it printed', async () => {
    const { instance, ended } = await stage.open(withTool(`console.error('I give up'); process.exit(3)`))
    const result = await runTool(instance)
    expect(result).toMatchObject({ ok: false, error: { message: expect.stringContaining('exit code 3') } })
    expect(await ended).toMatch(/its process ended with exit code 3\. It printed: I give up/)
  })

  it('that throws outside of a call ends, and says where', async () => {
    const { ended } = await stage.open(main(`constructor() { setTimeout(() => { throw new Error('in a timer') }) }`))
    expect(await ended).toMatch(/exit code 1\. It printed: .*main\.js:3.*in a timer/s)
  })

  it('that leaves 64 calls without an answer ends', async () => {
    const { instance, ended } = await stage.open(withTool(`await new Promise(() => {})`))
    await instance.initialize?.(recordedContext())
    const [tool] = (await instance.getTools?.()) ?? []
    const controller = new AbortController()
    const calls = Array.from({ length: 64 }, () => tool?.execute({}, toolContext({ signal: controller.signal })))
    expect(await tool?.execute({}, toolContext())).toMatchObject({
      error: { message: expect.stringContaining('not answered 64 other calls') },
    })
    controller.abort()
    await Promise.all(calls)
    await tool?.execute({}, toolContext())
    expect(await ended).toContain('it left 64 calls without an answer')
  })

  it('that floods the log loses lines, and nothing else', async () => {
    const context = recordedContext()
    const { instance } = await stage.open(withTool(`for (let n = 0; n < 10_000; n++) context.logger.info('line ' + n); return 'done'`))
    expect(await runTool(instance, {}, { call: toolContext(), context })).toBe('done')
    expect(context.calls.length).toBeLessThanOrEqual(100)
  })

  it('that floods the kernel is read more slowly', async () => {
    const clock = new FakeClock()
    const shown: string[] = []
    const progress = `'{"jsonrpc":"2.0","method":"progress","params":{"text":"x","call":3}}\\n'.repeat(500)`
    const flood = `for (let n = 0; n < 100; n++) { writeAll(${progress}); await new Promise(setImmediate) }; return 'done'`
    const { instance } = await stage.open(withTool(flood, writeAll), { clock })
    const running = runTool(instance, {}, { call: toolContext({ progress: (text) => shown.push(text) }) })
    // While it is not read, there is a timer beside that of the call.
    const isPaused = (): boolean => clock.pending > 1
    let pauses = 0
    const tick = setInterval(() => {
      if (!isPaused()) return
      pauses++
      clock.advance(1_000)
    })
    expect(await running).toBe('done')
    clearInterval(tick)
    expect(pauses).toBeGreaterThan(5)
    expect(shown).toHaveLength(50_000)
  })

  it('that sends more requests than may be open lets them wait', async () => {
    const context = recordedContext()
    const { instance } = await stage.open(
      withTool(`await Promise.all(Array.from({ length: 500 }, (_, n) => context.publish('n', n))); return 'done'`),
    )
    expect(await runTool(instance, {}, { call: toolContext(), context })).toBe('done')
    expect(context.calls).toHaveLength(500)
  })

  it('that is closed ends, and is no failure', async () => {
    const opened = await stage.open(main(`constructor() { setInterval(() => {}, 1000); process.on('SIGTERM', () => {}) }`))
    let isEnded = false
    void opened.ended?.then(() => {
      isEnded = true
    })
    await opened.close()
    await expect(opened.instance.healthCheck?.()).rejects.toThrow('it was stopped')
    expect(isEnded).toBe(false)
  })
})
