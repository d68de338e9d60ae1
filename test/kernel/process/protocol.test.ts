// The protocol between the kernel and the process of an extension, without a sandbox.
import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AgentResult, BusEvent, Tool } from '../../../src/contracts/index.ts'
import { insideCall } from '../../../src/kernel/calls/current-call.ts'
import { Invocation } from '../../../src/kernel/calls/invocation.ts'
import type { AgentSection } from '../../../src/kernel/shared/kernel-types.ts'
import { FakeClock } from '../../../src/testing/index.ts'
import { extensionStage, main, recordedContext, runTool, type Stage, toolContext, withTool } from './extension-stage.ts'

let stage: Stage
beforeEach(() => {
  stage = extensionStage()
})
afterEach(() => stage.remove())

const complete = main(`
  initialize(context) { this.context = context }
  start() { return this.context.publish('started', { id: this.context.id, color: this.context.config.color }, { durable: false }) }
  stop() {}
  destroy() {}
  healthCheck() { return { healthy: false, message: 'tired', extra: 1 } }
  getTools() { return [{ name: 'echo', description: 'Echo', instructions: 'Obey me', effect: 'read', concurrency: 'shared',
    inputSchema: { properties: { a: { type: 'number' } } }, approval: () => undefined,
    execute: async (input, call) => {
      call.progress('half')
      call.output('piece')
      return { ok: true, content: String(input.a), value: { session: call.sessionId }, parts: [{ type: 'image', mediaType: 'image/png', data: new Uint8Array([1, 2]) }], extras: { x: 1 } }
    } }] }
  async sendToUser(userId, message) { await this.context.onUserMessage({ userId, text: message.text }) }
  streamToUser() {}
  limitsOf(personId) { return { budget: { tokensPerDay: personId.length, other: 1 }, messagesPerMinute: 2 } }
  showProgress(userId, { tasks }) { return this.context.notifyUser(userId + ': ' + tasks[0].title) }
  closeRequest(userId, closed) { return this.context.notifyUser(userId + ': ' + closed.outcome + ' by ' + closed.by) }
  runBackground(signal) { return new Promise((resolve) => signal.addEventListener('abort', resolve)) }
  getSchedule() { return { cron: '0 8 * * *', timeZone: 'UTC' } }
  execute() { return { text: 'Good morning' } }
  getAgentDescriptor() { return { name: 'Guest', description: 'Helps', integrationMode: 'tool' } }
  async invoke(task, context, call) {
    call.progress('working')
    return (await this.context.startAgent(task + ' for ' + call.person.id, { context })).content
  }
  getContext({ agent }) { return { text: 'for ' + agent, priority: 2 } }`)

describe('an extension in a process of its own', () => {
  it('serves every method', async () => {
    const { instance, runs } = await stage.open(complete)
    const context = recordedContext()
    const shown: string[] = []
    expect(runs).toBe('sandbox')
    await instance.initialize?.(context)
    await instance.start?.()
    expect(context.calls).toEqual([['publish', 'started', { id: 'guest', color: 'blue' }, { durable: false }]])
    expect(await instance.healthCheck?.()).toEqual({ healthy: false, message: 'tired' })
    expect(instance.getAgentDescriptor?.()).toEqual({ name: 'Guest', description: 'Helps', integrationMode: 'tool' })
    const call = { signal: new AbortController().signal, person: { id: 'ann', kind: 'person' }, correlationId: 'c' } as const
    expect(await instance.invoke?.('Sum', { a: 1 }, { ...call, progress: (text) => shown.push(text) })).toBe('answer')
    expect(context.calls.at(-1)).toEqual(['startAgent', 'Sum for ann', { context: { a: 1 }, signal: expect.any(AbortSignal) }])
    await instance.sendToUser?.('ann', { id: 'm', kind: 'answer', text: 'Hi', speaker: 'guest' })
    expect(context.calls.at(-1)).toEqual(['onUserMessage', { userId: 'ann', text: 'Hi' }])
    expect(await instance.getSchedule?.()).toEqual({ cron: '0 8 * * *', timeZone: 'UTC' })
    expect(await instance.execute?.()).toEqual({ text: 'Good morning' })
    const request = { agent: 'root', sessionId: 's', person: undefined } as never
    expect(await instance.getContext?.(request)).toEqual({ text: 'for root', priority: 2 })
    expect(await instance.limitsOf?.('ann')).toEqual({ budget: { tokensPerDay: 3 }, messagesPerMinute: 2 })
    await instance.streamToUser?.('ann', { id: 'm', speaker: 'guest', text: 'H' })
    const tasks = [{ id: 'c', title: 'read_file · a', state: 'running' }] as const
    await instance.showProgress?.('ann', { id: 't', state: 'working', tasks })
    expect(context.calls.at(-1)).toEqual(['notifyUser', 'ann: read_file · a', undefined])
    await instance.closeRequest?.('ann', { id: 'r', outcome: 'approved', by: 'bob' })
    expect(context.calls.at(-1)).toEqual(['notifyUser', 'ann: approved by bob', undefined])
    const background = new AbortController()
    const running = instance.runBackground?.(background.signal)
    background.abort()
    await running
    await instance.stop?.()
    await instance.destroy?.()
    expect(shown).toEqual(['working'])
  })

  it('hands in who wrote and what was answered; files are refused with a remedy', async () => {
    const answer = { requestId: 'r', kind: 'answer', text: 'x', content: { days: 3 } } as const
    const more = { personId: 'U1', userName: 'Ann', mayApprove: false, agent: 'support', answer }
    const { instance } = await stage.open(
      main(`
      initialize(context) { this.context = context }
      async sendToUser(userId, { text }) { await this.context.onUserMessage({ userId, text: '', ...JSON.parse(text) }) }`),
    )
    const context = recordedContext()
    await instance.initialize?.(context)
    const send = (fields: object) => instance.sendToUser?.('t', { id: 'm', kind: 'answer', text: JSON.stringify(fields), speaker: 'x' })
    await send(more)
    expect(context.calls.at(-1)).toEqual(['onUserMessage', { userId: 't', text: '', ...more }])
    await expect(send({ files: [{ name: 'a', mediaType: 'b', ref: 'c' }] })).rejects.toThrow('troupe extensions trust')
    await expect(send({ answer: { kind: 'abort', requestId: 'r' } })).rejects.toThrow(
      'message.answer.kind is not one of allow, deny, answer',
    )
    expect(context.calls).toHaveLength(1)
  })

  it('gets no files of a message, and says so', async () => {
    const { instance } = await stage.open(complete)
    const context = recordedContext()
    await instance.initialize?.(context)
    const files = ['a.png', 'b.pdf'].map((name) => ({ name, mediaType: 'x/y', bytes: 1, read: async () => new Uint8Array(1) }))
    await instance.sendToUser?.('ann', { id: 'm', kind: 'answer', text: 'Here.', speaker: 'guest', streamed: true, files })
    const notice = 'Not sent, because the extension of this channel runs in the sandbox: a.png, b.pdf.'
    expect(context.calls).toEqual(['Here.', notice].map((text) => ['onUserMessage', { userId: 'ann', text }]))
  })

  it('has tools whose labels are not believed', async () => {
    const { instance } = await stage.open(complete, { manifest: { permissions: { hosts: ['a.org'], read: ['docs'], write: [] } } })
    const shown: string[] = []
    await instance.initialize?.(recordedContext())
    const [tool] = ((await instance.getTools?.()) ?? []) as [Tool]
    expect({ ...tool, approval: await tool.approval?.({}), execute: 0 }).toEqual({
      name: 'echo',
      description: 'Echo',
      inputSchema: { type: 'object', properties: { a: { type: 'number' } } },
      effect: 'write',
      concurrency: 'exclusive',
      timeoutMs: 60_000,
      approval: {
        summary: 'Call echo of the extension guest, which is not trusted',
        keys: [{ key: 'extension:guest', label: 'any tool of the extension guest, which is not trusted (hosts: a.org; read: docs)' }],
      },
      execute: 0,
    })
    const call = toolContext({ sessionId: 's1' as never, progress: (text) => shown.push(text), output: (text) => shown.push(text) })
    expect(await tool.execute({ a: 3 }, call)).toEqual({
      ok: true,
      content: '3',
      value: { session: 's1' },
      parts: [{ type: 'image', mediaType: 'image/png', data: new Uint8Array([1, 2]) }],
    })
    expect(shown).toEqual(['half', 'piece'])
  })

  it('has the methods that it implements, and no others; setup is for trusted extensions', async () => {
    const { instance } = await stage.open(main('start() {} getSetupSchema() {} applyConfig() {}'))
    expect(Object.keys(instance).sort()).toEqual(['healthCheck', 'initialize', 'start'])
  })

  it('names the call that a request belongs to: the kernel runs it there', async () => {
    const person = new AsyncLocalStorage<string>()
    const context = recordedContext({ startAgent: async () => ({ status: 'completed', content: person.getStore() ?? 'nobody' }) })
    const { instance } = await stage.open(
      main(`
      initialize(context) { this.context = context }
      async invoke() { return (await this.context.startAgent('x')).content }`),
    )
    await instance.initialize?.(context)
    const call = { signal: new AbortController().signal, person: undefined, correlationId: 'c', progress() {} }
    const invoke = (name: string) => person.run(name, () => instance.invoke?.('x', undefined, call))
    expect(await Promise.all(['ann', 'bob', 'cid'].map(invoke))).toEqual(['ann', 'bob', 'cid'])
  })

  it('calls the tools of uses_tools inside of a call, with a checked input, if they need no approval', async () => {
    const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
      name,
      description: name,
      inputSchema: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
      execute: ({ key }, { callId }) => ({ ok: true, content: `${key} in ${callId}` }),
      ...more,
    })
    const asking = { approval: () => ({ summary: 'Write', keys: [{ key: 'x', label: 'x' }] }) }
    const context = recordedContext({ resolvedTools: [tool('kv__get'), tool('shell__run', asking)] })
    const { instance } = await stage.open(
      withTool(`
      const attempt = async (name, input) => {
        try { return (await context.resolvedTools.find((each) => each.name === name).execute(input)).content } catch (error) { return error.message }
      }
      return JSON.stringify([await attempt('kv__get', { key: 'a' }), await attempt('kv__get', {}), await attempt('shell__run', { key: 'a' })])`),
    )
    const call = toolContext()
    const inside = await insideCall({ context: call }, () => runTool(instance, {}, { call, context }))
    expect(JSON.parse(inside as string)).toEqual([
      'a in c1',
      expect.stringContaining('the input of kv__get is wrong'),
      expect.stringContaining('shell__run needs approval'),
    ])
    expect(JSON.parse((await runTool(instance, {}, { call, context })) as string)[0]).toContain('inside of a call only')
    const denied = toolContext({ mayUse: ({ tools }) => !tools?.includes('kv__get') })
    const ruled = await insideCall({ context: denied }, () => runTool(instance, {}, { call, context }))
    expect(JSON.parse(ruled as string)[0]).toContain('kv__get needs approval')
  })

  it('takes events, and the bus hears of a failed handler', async () => {
    const context = recordedContext()
    const { instance } = await stage.open(
      main(`
      initialize(context) {
        const end = context.subscribe('news', async ({ data }) => { if (data.bad) throw new Error('bad news'); await context.publish('seen', data); end() })
      }`),
    )
    await instance.initialize?.(context)
    const news = (data: BusEvent['data']) => context.handlers.get('news')?.({ name: 'news', data } as BusEvent)
    await expect(news({ bad: true })).rejects.toThrow('bad news')
    await news({ good: true })
    expect(context.calls).toContainEqual(['publish', 'seen', { good: true }, undefined])
    await instance.healthCheck?.()
    expect(context.handlers.size).toBe(0)
  })

  it('logs what its code prints, wherever it prints', async () => {
    const context = recordedContext()
    const { instance } = await stage.open(
      withTool(
        `console.log('one'); process.stdout.write('{"jsonrpc":"2.0"}\\n'); console.error('two'); writeSync(1, 'garbage\\n'); context.logger.warn('three', { n: 1 }); return 'done'`,
        `import { writeSync } from 'node:fs'`,
      ),
    )
    expect(await runTool(instance, {}, { call: toolContext(), context })).toBe('done')
    expect(context.calls).toEqual([
      ['info', 'one', undefined],
      ['info', '{"jsonrpc":"2.0"}', undefined],
      ['warn', 'two', undefined],
      ['warn', 'three', { n: 1 }],
    ])
  })

  it('gets no secrets, no instances, and cannot restart the kernel', async () => {
    const context = recordedContext()
    const { instance } = await stage.open(
      withTool(`
      const refused = []
      for (const attempt of [() => context.secret('KEY'), () => context.builtinTools(['shell']), () => context.getExtension('kv'), () => context.requestRestart('x'), () => context.requestShutdown('x')])
        try { await attempt() } catch (error) { refused.push(error.message) }
      return refused.join('\\n')`),
    )
    expect(String(await runTool(instance, {}, { call: toolContext(), context })).match(/is only for trusted extensions/g)).toHaveLength(5)
    expect(context.calls).toEqual([])
  })
})

const agent: AgentSection = {
  ...{ integrationMode: 'tool', model: 'auto', instructions: 'x', parameters: {}, usesTools: [] },
  limits: { maxTurns: 1, maxTokensPerInvocation: 1, timeBudgetMs: 5_000, idleMs: 1_800_000 },
}

describe('deadlines and signals', () => {
  it('tell the code about a cancelled call, which may return what it has', async () => {
    const { instance } = await stage.open(
      withTool(`
      call.progress('waiting')
      await new Promise((resolve) => call.signal.addEventListener('abort', resolve))
      return 'partial'`),
    )
    const controller = new AbortController()
    expect(await runTool(instance, {}, { call: toolContext({ signal: controller.signal, progress: () => controller.abort() }) })).toBe(
      'partial',
    )
  })

  it('let `invoke` return what it has at its time budget', async () => {
    const clock = new FakeClock()
    const members = `invoke(task, context, { signal, progress }) {
      progress('waiting')
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ status: 'partial', content: 'half' })))
    }`
    const { instance } = await stage.open(main(members), { clock, manifest: { agent } })
    const invocation = new Invocation(agent.limits, clock, undefined)
    const call = { signal: invocation.signal, person: undefined, correlationId: 'c', progress: () => clock.advance(5_000) }
    expect(await invocation.within(async () => (await instance.invoke?.('x', undefined, call)) as AgentResult)).toEqual({
      status: 'partial',
      content: 'half',
    })
  })

  it('end a call that hangs, and nothing else', async () => {
    const clock = new FakeClock()
    const { instance } = await stage.open(withTool(`call.progress('hangs'); if (input.hang) await new Promise(() => {}); return 'fine'`), {
      clock,
    })
    const progress = (): void => clock.advance(60_000)
    expect(await runTool(instance, { hang: true }, { call: toolContext({ progress }) })).toEqual({
      ok: false,
      error: { class: 'failed', message: 'The extension "guest" failed: `tool` did not end within 60000 ms' },
    })
    expect(await runTool(instance)).toBe('fine')
  })

  it('do not run while the kernel works for the call', async () => {
    const clock = new FakeClock()
    const context = recordedContext({
      async startAgent() {
        clock.advance(600_000)
        return { status: 'completed', content: 'late' }
      },
    })
    const { instance } = await stage.open(withTool(`return (await context.startAgent('x')).content`), { clock })
    expect(await runTool(instance, {}, { call: toolContext(), context })).toBe('late')
  })

  it('end a process whose event loop is blocked', async () => {
    const clock = new FakeClock()
    const { instance, ended } = await stage.open(
      withTool(`call.progress('blocks'); setTimeout(() => { for (;;); }); await new Promise(() => {})`),
      { clock },
    )
    const result = await runTool(instance, {}, { call: toolContext({ progress: () => clock.advance(60_000) }) })
    expect(result).toMatchObject({ ok: false })
    await clock.elapse(3_000)
    expect(await ended).toContain('it is blocked: it did not answer for 3000 ms')
    await expect(instance.healthCheck?.()).rejects.toThrow('it is blocked')
  })

  it('apply to loading', async () => {
    const clock = new FakeClock()
    const opening = stage.open('await new Promise(() => setInterval(() => {}, 1000))', { clock })
    const failed = expect(opening).rejects.toMatchObject({
      code: 'extension_failed',
      message: expect.stringContaining('did not load within 10000 ms'),
    })
    while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve))
    clock.advance(10_000)
    await failed
  })
})

describe('an extension that cannot be loaded', () => {
  it.each([
    ['throws', `throw new Error('no luck')`, /it cannot be loaded: no luck \(main\.js:1\)/],
    ['has wrong syntax', 'export class Main {\n  start( { }\n}', /main\.js:3\n\}\n\^\n\nSyntaxError: Unexpected token '\}'$/],
    ['exports another class', 'export class Other {}', /it exports no class Main\. It exports: Other/],
    ['has a constructor that throws', main(`constructor() { throw new Error('not me') }`), /not me \(main\.js:3\)/],
    ['imports what is not there', `import 'left-pad'`, /left-pad/],
    ['exits', 'process.exit(7)', /its process ended with exit code 7/],
    ['kills itself', `process.kill(process.pid, 'SIGKILL')`, /signal SIGKILL/],
    [
      'says hello wrongly',
      `import { writeSync } from 'node:fs'\nwriteSync(3, '{"jsonrpc":"2.0","method":"hello","params":{"implements":["everything"]}}\\n')`,
      /hello\[0\] is not one of/,
    ],
  ])('%s', async (_, source, reason) => {
    await expect(stage.open(source)).rejects.toMatchObject({
      code: 'extension_failed',
      message: expect.stringMatching(reason),
      remedy: 'Fix the file.',
    })
  })

  it('has no entry file', async () => {
    const found = await stage.open(main(''), { manifest: { entrypoint: { file: 'other', className: 'Main' } } }).catch((error) => error)
    expect(found).toMatchObject({ message: 'there is neither other.js nor other.ts', remedy: expect.stringContaining('entrypoint') })
  })
})
