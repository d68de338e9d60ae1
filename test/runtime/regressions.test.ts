import { setImmediate as macrotask } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ApprovalRequest, InteractionEvent, StreamEvent, ToolContext, TreeId } from '../../src/contracts/index.ts'
import { TroupeError } from '../../src/contracts/index.ts'
import type { RunHandle } from '../../src/runtime/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, ScriptedModel } from '../../src/testing/index.ts'
import { settle } from '../settle.ts'
import { runtimeWith, tool } from './helpers.ts'

// Each of these was a defect once; the name says which.

const wait = { decide: () => 'wait' as const }
const asking = (name: string) => tool(name, { approval: () => ({ keys: [{ key: `tool:${name}`, label: name }], summary: name }) })

async function requests(handle: RunHandle, count: number): Promise<readonly ApprovalRequest[]> {
  const found: ApprovalRequest[] = []
  for await (const event of handle) {
    if (event.type === 'interaction.approval.requested') found.push(event.request)
    if (found.length === count) break
  }
  return found
}

describe('answers and messages', () => {
  it('are all taken when they come microtasks apart', async () => {
    for (let gap = 0; gap < 12; gap++) {
      const model = new ScriptedModel([{ calls: [{ tool: 'a' }, { tool: 'b' }] }, { text: 'Done.' }])
      const handle = runtimeWith(model, { tools: [asking('a'), asking('b')], approver: wait }).stream('Go')
      const [first, second] = await requests(handle, 2)
      void handle.approve(first!.id, { kind: 'approve', breadth: 'once' })
      for (let tick = 0; tick < gap; tick++) await undefined
      void handle.approve(second!.id, { kind: 'approve', breadth: 'once' })
      expect((await handle.outcome).status).toBe('completed')
    }
  })

  it('keep a stop that comes during a pause between attempts', async () => {
    const clock = new FakeClock()
    const limited = { class: 'rate_limit', message: 'slow down', retryAfterMs: 30_000 } as const
    const model = new ScriptedModel([{ fault: limited }, { text: 'What I have.' }])
    const handle = runtimeWith(model, { clock, tools: [tool('a')] }).stream('Go')
    for await (const event of handle) if (event.type === 'interaction.step.failed') break
    await handle.stop()
    expect(await settle(handle.outcome, clock)).toMatchObject({ status: 'partial', reason: 'stopped' })
    expect(model.requests[1]?.toolChoice).toBe('none')
  })
})

describe('a tree', () => {
  it('has one driver, however often it is opened concurrently', async () => {
    const store = memoryStore()
    const first = runtimeWith(new ScriptedModel([{ text: 'One.' }, { text: 'Two.' }]), { store })
    const { sessionId: treeId } = await first.run('Go')
    const [a, b] = await Promise.all([first.open(treeId), first.open(treeId)])
    await a.send('More')
    expect((await a.outcome).report?.text).toBe('Two.')
    expect((await b.outcome).report?.text).toBe('Two.')
  })

  it('can be asked about right after it was started', async () => {
    const runtime = runtimeWith(new ScriptedModel([{ text: 'Hello.' }]))
    const { sessionId: treeId } = runtime.stream('Go')
    const outcome = runtime.sessions.outcome(treeId)
    const types: string[] = []
    for await (const event of runtime.sessions.events(treeId)) types.push(event.type)
    expect(types.at(0)).toBe('interaction.session.created')
    expect(types.at(-1)).toBe('interaction.session.idle')
    expect((await outcome).report?.text).toBe('Hello.')
  })

  it('that is unknown is reported as unknown, by events, too', async () => {
    const runtime = runtimeWith(new ScriptedModel([]))
    const read = async () => {
      for await (const _ of runtime.sessions.events('nothing' as TreeId)) return
    }
    await expect(read()).rejects.toMatchObject({ code: 'session_unknown' })
  })

  it('is followed by another runtime on the same store until it rests', async () => {
    const store = memoryStore()
    const open = gate()
    const driving = runtimeWith(new ScriptedModel([{ text: 'Hello.', wait: open.promise }]), { store })
    const treeId = await driving.sessions.start('Go')
    const seen: StreamEvent[] = []
    const watching = runtimeWith(new ScriptedModel([]), { store })
    const reading = (async () => {
      for await (const event of watching.sessions.events(treeId)) seen.push(event)
    })()
    await macrotask()
    open.open()
    await reading
    const durable = seen.filter((event): event is InteractionEvent => 'seq' in event)
    expect(durable.map((event) => event.seq)).toEqual(durable.map((_, index) => index + 1))
    expect(durable.at(-1)?.type).toBe('interaction.session.idle')
  })

  it('that was left open is not said to wait for an approval', async () => {
    const store = memoryStore()
    const never = gate()
    const dead = runtimeWith(new ScriptedModel([{ text: 'x', wait: never.promise }]), { store })
    const treeId = await dead.sessions.start('Go')
    const left = memoryStore()
    await left.journal.claim(treeId, 'gone' as never)
    await left.journal.append({ treeId, expectedSeq: 0, epoch: 1, events: await store.journal.read(treeId, 0) })
    await left.journal.release(treeId, 1)
    const outcome = await runtimeWith(new ScriptedModel([]), { store: left }).sessions.outcome(treeId)
    expect(outcome).toMatchObject({ status: 'suspended', reason: 'released', message: expect.stringContaining('does not drive it') })
    await dead.close()
  })

  it('is not touched by a signal that is aborted after the run', async () => {
    const store = memoryStore()
    const controller = new AbortController()
    const runtime = runtimeWith(new ScriptedModel([{ text: 'Done.' }]), { store })
    const { sessionId: treeId, snapshot } = await runtime.run('Go', { signal: controller.signal })
    controller.abort()
    await macrotask()
    expect((await store.trees.get(treeId))?.seq).toBe(snapshot.seq)
  })
})

describe('waiting for a person', () => {
  it('ends with the call that was waiting, so that the time budget counts again', async () => {
    const clock = new FakeClock()
    const silent = Array.from({ length: 4 }, () => ({ fault: 'silence' as const }))
    const model = new ScriptedModel([{ text: 'Let me ask.', calls: [{ tool: 'a' }] }, ...silent])
    const handle = runtimeWith(model, { clock, tools: [asking('a')], approver: wait, limits: { timeBudget: 10_000 } }).stream('Go')
    await requests(handle, 1)
    await handle.stop()
    const outcome = await settle(handle.outcome, clock)
    expect(outcome).toMatchObject({ status: 'partial', reason: 'time', report: { text: 'Let me ask.' } })
    expect(outcome.operations?.durationMs).toBeLessThan(15_000)
  })

  it('grants the same arguments again, whatever reason the model gives', async () => {
    const sandbox = { confinement: { kind: 'sandbox', name: 'box' } } as const
    const blocked = tool('a', {
      execute: (_, { confinement }) =>
        confinement.kind === 'none' ? 'out' : { ok: false, error: { class: 'sandbox', message: 'blocked' } },
    })
    const asked: string[] = []
    const approver = {
      decide: (request: ApprovalRequest) => {
        asked.push(request.scope)
        return { decision: { kind: 'approve', breadth: 'session' } as const, by: 'ann' }
      },
    }
    const calls = [
      { q: 'x', reason: 'first' },
      { reason: 'second', q: 'x' },
      { q: 'y', reason: 'third' },
    ]
    const model = new ScriptedModel([...calls.map((input) => ({ calls: [{ tool: 'a', input }] })), { text: 'Done.' }])
    const outcome = await runtimeWith(model, { tools: [blocked], sandbox, approver }).run('Go')
    expect(outcome.accounting.filter((entry) => entry.kind === 'call').map((entry) => entry.status)).toEqual([
      'completed',
      'completed',
      'completed',
    ])
    expect(asked).toEqual(['unsandboxed', 'unsandboxed'])
  })

  it('voids what was approved under another policy', async () => {
    const store = memoryStore()
    const approver = { decide: () => ({ decision: { kind: 'approve', breadth: 'session' } as const, by: 'ann' }) }
    const first = runtimeWith(new ScriptedModel([{ calls: [{ tool: 'a' }] }, { text: 'Done.' }]), { store, tools: [asking('a')], approver })
    const { sessionId: treeId, snapshot } = await first.run('Go')
    expect(snapshot.approvalKeys).toHaveLength(1)
    const hooks = [{ name: 'audit', onFailure: 'closed', atStop: () => ({ kind: 'continue' as const }) } as const]
    const second = runtimeWith(new ScriptedModel([{ calls: [{ tool: 'a' }] }, { text: 'Again.' }]), { store, tools: [asking('a')], hooks })
    const handle = await second.open(treeId)
    await handle.send('More')
    const outcome = await handle.outcome
    expect(outcome.diagnostics.map((diagnostic) => diagnostic.code)).toContain('policy_changed')
    expect(outcome.accounting.find((entry) => entry.kind === 'call')?.status).toBe('declined')
  })
})

describe('a tool', () => {
  it('may spread its context, or take it apart', async () => {
    let copy: ToolContext | undefined
    const curious = tool('a', {
      execute: (_, context) => {
        copy = { ...context }
        const { progress, storedOutput } = context
        progress('half way')
        return storedOutput('nothing').then((found) => String(found))
      },
    })
    const handle = runtimeWith(new ScriptedModel([{ calls: [{ tool: 'a' }] }, { text: 'Done.' }]), { tools: [curious] }).stream('Go')
    const progress: string[] = []
    for await (const event of handle) if (event.type === 'interaction.item.delta' && event.kind === 'progress') progress.push(event.text)
    expect(progress).toEqual(['half way'])
    expect(copy).toMatchObject({
      signal: expect.any(AbortSignal),
      callId: `${handle.sessionId}:t1.s1.1`,
      attempt: 1,
      overlay: {},
      remaining: { steps: 9 },
    })
  })

  it('cannot take the name of one that every session has', () => {
    expect(() => runtimeWith(new ScriptedModel([]), { tools: [tool('read_output')] })).toThrow(/reserved for a tool of the runtime/)
  })

  it('that is refused is recorded as what it is', async () => {
    const files = { ...asking('a'), namespace: 'files' }
    const handle = runtimeWith(new ScriptedModel([{ calls: [{ tool: 'a', input: { q: 'x' } }] }, { text: 'Done.' }]), {
      tools: [files],
    }).stream('Go')
    const items: unknown[] = []
    for await (const event of handle) if (event.type === 'interaction.item.started' && event.item.kind === 'call') items.push(event.item)
    expect(items).toMatchObject([{ tool: 'a', namespace: 'files', effect: 'write' }])
  })

  it('is aborted when the journal fails at the same time', async () => {
    const memory = memoryStore()
    let isBroken = false
    const journal = {
      ...bind(memory.journal),
      append: (batch: Parameters<typeof memory.journal.append>[0]) => {
        if (isBroken) throw new TroupeError('store_failed', 'The disk is full.', { remedy: 'Make room.' })
        return memory.journal.append(batch)
      },
    }
    let heard = false
    const slow = tool('slow', {
      concurrency: 'shared',
      execute: (_, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            heard = true
            resolve('stopped')
          })
        }),
    })
    const quick = tool('quick', {
      concurrency: 'shared',
      execute: () => {
        isBroken = true
        return 'done'
      },
    })
    const model = new ScriptedModel([{ calls: [{ tool: 'slow' }, { tool: 'quick' }] }])
    const outcome = await runtimeWith(model, { tools: [slow, quick], store: { ...memory, journal } }).run('Go')
    expect(outcome).toMatchObject({ status: 'failed', reason: 'store', message: 'The disk is full.', remedy: 'Make room.' })
    expect(heard).toBe(true)
  })
})

describe('a runtime', () => {
  it('lists its tool sources once', async () => {
    let listed = 0
    const source = {
      list: async () => {
        listed++
        await macrotask()
        return [tool('a')]
      },
    }
    const runtime = runtimeWith(new ScriptedModel([{ text: '1' }, { text: '2' }, { text: '3' }]), { tools: [source] })
    await Promise.all([runtime.run('a'), runtime.run('b'), runtime.run('c')])
    expect(listed).toBe(1)
  })

  it('accounts for models by what they call themselves', async () => {
    const outcome = await runtimeWith(new ScriptedModel([{ text: 'Done.' }], { id: 'provider/real' })).run('Go')
    expect(outcome.accounting).toMatchObject([{ kind: 'model', model: 'provider/real' }])
  })

  it('keeps the process out of the way of unhandled rejections', async () => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => unhandled.push(error)
    process.on('unhandledRejection', note)
    onTestFinished(() => void process.off('unhandledRejection', note))
    const memory = memoryStore()
    const journal = { ...bind(memory.journal), append: () => Promise.reject(new TroupeError('store_failed', 'No disk.')) }
    const outcome = await runtimeWith(new ScriptedModel([{ text: 'Done.' }]), { store: { ...memory, journal } }).run('Go')
    await macrotask()
    expect(outcome).toMatchObject({ status: 'failed', reason: 'store' })
    expect(unhandled).toEqual([])
  })
})

function bind(journal: ReturnType<typeof memoryStore>['journal']) {
  return {
    claim: journal.claim.bind(journal),
    release: journal.release.bind(journal),
    read: journal.read.bind(journal),
    watch: journal.watch.bind(journal),
    append: journal.append.bind(journal),
  }
}
