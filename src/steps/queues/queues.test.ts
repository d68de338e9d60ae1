import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Tool } from '../../contracts/index.ts'
import { FakeClock } from '../../testing/index.ts'
import { Interrupt } from '../../util/interrupt.ts'
import { ToolRegistry } from '../tools/tool-registry.ts'
import type { QueueSlots } from './queue-slot.ts'
import { Queues, queueNames } from './queues.ts'

const tool = (name: string, namespace?: string): Tool => ({
  name,
  ...(namespace !== undefined && { namespace }),
  description: 'd',
  inputSchema: { type: 'object' },
  execute: () => '',
})
const registry = new ToolRegistry([tool('git/push', 'git'), tool('git/pull', 'git'), tool('shell'), tool('ask', 'agent')])
const named = (name: string): Tool => registry.find(name) as Tool
const usedByCalls = new Set(registry.tools.flatMap((each) => queueNames(each.tool)))

function stage(limits: ConstructorParameters<typeof Queues>[0]) {
  const clock = new FakeClock()
  const queues = new Queues(limits, { clock, usedByCalls })
  const inside: string[] = []
  const interrupt = new Interrupt()
  const held = new Map<string, QueueSlots>()
  return {
    clock,
    queues,
    inside,
    interrupt,
    /** Asks for the slots of a call; `inside` shows who has them. */
    call(id: string, name: string, above?: QueueSlots): QueueSlots {
      const slots = queues.forCall(named(name), above)
      if (!slots) throw new Error(`${name} is not capped`)
      held.set(id, slots)
      void slots.enter(interrupt).then((isIn) => isIn && inside.push(id))
      return slots
    },
    end(id: string): void {
      held.get(id)?.close()
      if (inside.includes(id)) inside.splice(inside.indexOf(id), 1)
    },
  }
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a queue is for', () => {
  const { queues } = stage({ openai: { concurrent: 1 }, git: { concurrent: 1 }, 'git/push': { concurrent: 1 }, shell: { concurrent: 1 } })
  it('the provider that the id of a model begins with', () => {
    expect(queues.forModel('openai/gpt')).toBeDefined()
    expect(queues.forModel('openai')).toBeDefined()
    expect(queues.forModel('openai-two/gpt')).toBeUndefined()
  })
  it('a tool as written, as offered, or by its namespace', () => {
    for (const name of ['git__push', 'git__pull', 'shell']) expect(queues.forCall(named(name)), name).toBeDefined()
    expect(queues.forCall(named('ask'))).toBeUndefined()
    expect(stage({ git__pull: { concurrent: 1 } }).queues.forCall(named('git__pull'))).toBeDefined()
  })
})

describe('concurrent', () => {
  it('lets in as many, in the order of arrival', async () => {
    const { call, end, inside } = stage({ shell: { concurrent: 2 } })
    for (const id of ['a', 'b', 'c', 'd']) call(id, 'shell')
    await settled()
    expect(inside).toEqual(['a', 'b'])
    end('b')
    await settled()
    expect(inside).toEqual(['a', 'c'])
    end('a')
    end('c')
    await settled()
    expect(inside).toEqual(['d'])
  })

  it('is given back once, and not at all by one that left the line', async () => {
    const { call, inside, interrupt, queues } = stage({ shell: { concurrent: 1 } })
    const first = call('a', 'shell')
    const second = call('b', 'shell')
    await settled()
    interrupt.fire('over')
    await settled()
    expect(inside).toEqual(['a'])
    for (const slots of [second, first, first]) slots.close()
    first.leave()
    // What is closed needs nothing more, and gets nothing.
    expect(first.tryEnter()).toBe(true)
    const [third, fourth] = [queues.forCall(named('shell')), queues.forCall(named('shell'))]
    expect([third?.tryEnter(), fourth?.tryEnter()]).toEqual([true, false])
  })

  it('lets those pass who do not need what the first in line lacks', async () => {
    const { call, end, inside } = stage({ git: { concurrent: 2 }, git__push: { concurrent: 1 } })
    call('push 1', 'git__push')
    call('push 2', 'git__push')
    call('pull', 'git__pull')
    await settled()
    expect(inside).toEqual(['push 1', 'pull'])
    end('push 1')
    await settled()
    expect(inside).toEqual(['pull', 'push 2'])
  })

  it('takes all or nothing: two that need the same two never wait for each other', async () => {
    const { call, end, inside } = stage({ 'git/push': { concurrent: 1 }, git: { concurrent: 1 } })
    for (const id of ['a', 'b', 'c']) call(id, id === 'b' ? 'git__pull' : 'git__push')
    for (const id of ['a', 'b', 'c']) {
      await settled()
      expect(inside).toEqual([id])
      end(id)
    }
  })
})

describe('perMinute', () => {
  it('is a window that slides with the monotonic clock', async () => {
    const { call, end, inside, clock } = stage({ shell: { perMinute: 2 } })
    call('a', 'shell')
    await clock.elapse(20_000)
    for (const id of ['b', 'c', 'd', 'e']) call(id, 'shell')
    await settled()
    expect(inside).toEqual(['a', 'b'])
    end('a')
    clock.jump(600_000)
    await clock.elapse(39_999)
    expect(inside).toEqual(['b'])
    await clock.elapse(1)
    expect(inside).toEqual(['b', 'c'])
    await clock.elapse(20_000)
    expect(inside).toEqual(['b', 'c', 'd'])
    await clock.elapse(40_000)
    expect(inside).toEqual(['b', 'c', 'd', 'e'])
    expect(clock.pending).toBe(0)
  })

  it('counts starting calls, not continued ones, which need not wait', async () => {
    const { call, inside, clock, interrupt } = stage({ shell: { concurrent: 1, perMinute: 1 } })
    const first = call('a', 'shell')
    call('b', 'shell')
    await settled()
    first.leave()
    await settled()
    expect(inside).toEqual(['a'])
    await expect(first.enter(interrupt)).resolves.toBe(true)
    first.close()
    await clock.elapse(60_000)
    expect(inside).toEqual(['a', 'b'])
  })

  it('sets no timer for an empty queue', async () => {
    const { call, clock, interrupt } = stage({ shell: { perMinute: 1 } })
    call('a', 'shell')
    call('b', 'shell')
    await settled()
    expect(clock.pending).toBe(1)
    interrupt.fire('over')
    expect(clock.pending).toBe(0)
  })
})

describe('below a call', () => {
  it('a slot of the same queue is taken in its place', async () => {
    const { call, end, inside, interrupt } = stage({ agent: { concurrent: 1 } })
    const parent = call('parent', 'ask')
    const child = call('child', 'ask', parent)
    call('other', 'ask')
    await settled()
    expect(inside).toEqual(['parent'])
    expect(child.isNested).toBe(true)
    parent.leave()
    await settled()
    expect(inside).toEqual(['parent', 'child'])
    const again = parent.enter(interrupt)
    end('child')
    await settled()
    expect(inside).toEqual(['parent', 'other'])
    expect(parent.isIn).toBe(false)
    end('other')
    await expect(again).resolves.toBe(true)
  })

  it('other work keeps the slots above, as often as it likes, once', async () => {
    const { call, end, inside } = stage({ agent: { concurrent: 1 }, shell: { concurrent: 2 } })
    const parent = call('parent', 'ask')
    await settled()
    for (const id of ['a', 'b', 'c']) call(id, 'shell', parent)
    parent.leave()
    call('other', 'ask')
    await settled()
    expect(inside).toEqual(['parent', 'a', 'b'])
    end('a')
    await settled()
    expect(inside).toEqual(['parent', 'b', 'c'])
    end('b')
    end('c')
    await settled()
    expect(inside).toEqual(['parent', 'other'])
  })

  it('a call that waits only for a slot that a sibling has obtained gets it', async () => {
    const { call, end, inside } = stage({ agent: { concurrent: 1 }, shell: { concurrent: 1 } })
    const parent = call('parent', 'ask')
    parent.leave()
    call('other', 'ask')
    call('shell', 'shell', parent)
    call('free', 'git__pull', parent)
    await settled()
    expect(inside).toEqual(['parent', 'other'])
    end('other')
    await settled()
    expect(inside).toEqual(['parent', 'shell', 'free'])
  })
})

describe('however many come and go', () => {
  it('no limit is exceeded, no one waits if there is room, and all enter', async () => {
    const names = ['git__push', 'git__pull', 'shell', 'ask'] as const
    const limit = fc.record({ concurrent: fc.integer({ min: 1, max: 3 }) })
    const limits = fc.record({ git: limit, git__push: limit, shell: limit, agent: limit })
    const works = fc.array(fc.record({ name: fc.constantFrom(...names), above: fc.option(fc.nat({ max: 3 })) }), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(limits, works, fc.infiniteStream(fc.nat()), async (given, wanted, chance) => {
        const { queues, interrupt } = stage(given)
        // Parents that are not at work themselves: what is below them takes their slots along.
        const parents = Array.from({ length: 4 }, () => queues.forCall(named('ask')) as QueueSlots)
        const running = new Map<number, { name: string; slots: QueueSlots; above: number | null }>()
        let waiting = wanted.length
        for (const [id, { name, above }] of wanted.entries()) {
          const slots = queues.forCall(named(name), above === null ? undefined : parents[above]) as QueueSlots
          void slots.enter(interrupt).then(() => {
            running.set(id, { name, slots, above })
            waiting--
          })
        }
        for (;;) {
          await settled()
          const at = [...running.values()]
          const agents = new Set(at.flatMap(({ above, name }) => (above !== null && name !== 'ask' ? [above] : [])))
          const count = (test: (name: string) => boolean) => at.filter(({ name }) => test(name)).length
          expect(count((name) => name.startsWith('git'))).toBeLessThanOrEqual(given.git.concurrent)
          expect(count((name) => name === 'git__push')).toBeLessThanOrEqual(given.git__push.concurrent)
          expect(count((name) => name === 'shell')).toBeLessThanOrEqual(given.shell.concurrent)
          expect(count((name) => name === 'ask') + agents.size).toBeLessThanOrEqual(given.agent.concurrent)
          if (running.size === 0) break
          const [id, { slots }] = [...running][(chance.next().value as number) % running.size] as [number, { slots: QueueSlots }]
          running.delete(id)
          slots.close()
        }
        expect(waiting).toBe(0)
      }),
      { numRuns: 300 },
    )
  })
})

describe('a waiter', () => {
  it('is informed of the queue', async () => {
    const { queues, call, end } = stage({ git: { concurrent: 1 }, 'git/push': { concurrent: 1 } })
    call('pull', 'git__pull')
    const told: string[] = []
    const push = queues.forCall(named('git__push'))
    const entered = push?.enter(new Interrupt(), (queue) => told.push(queue))
    expect(told).toEqual(['git'])
    end('pull')
    expect(await entered).toBe(true)
    expect(told).toEqual(['git'])
  })

  it('is not informed if there is room', async () => {
    const { queues } = stage({ git: { concurrent: 1 } })
    const told: string[] = []
    expect(await queues.forCall(named('git__pull'))?.enter(new Interrupt(), (queue) => told.push(queue))).toBe(true)
    expect(told).toEqual([])
  })

  it('is informed of the next queue that it lacks', () => {
    const { queues, call, end } = stage({ 'git/push': { concurrent: 1 }, git: { perMinute: 1 } })
    call('first', 'git__push')
    const told: string[] = []
    void queues.forCall(named('git__push'))?.enter(new Interrupt(), (queue) => told.push(queue))
    expect(told).toEqual(['git/push'])
    end('first')
    expect(told).toEqual(['git/push', 'git'])
  })
})
