import { describe, expect, it } from 'vitest'
import type { InteractionEvent } from '../../src/contracts/index.ts'
import { decide } from '../../src/core/index.ts'
import { snapshotOf } from '../../src/runtime/journal/session-snapshot.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { fold } from '../fixtures/fold-journal.ts'
import { restore } from '../restore-snapshot.ts'
import { ask, type Script, type Team, team } from './team.ts'

// One reply that asks for very many children. Counted, not timed: what is walked through and copied.

const walks = [
  'map',
  'filter',
  'every',
  'some',
  'find',
  'findIndex',
  'flatMap',
  'reduce',
  'slice',
  'with',
  'toReversed',
  'indexOf',
] as const

/** How many places of arrays are looked at or copied while a work is done; loops that end early count as if they did not. */
async function walked(work: () => Promise<unknown>): Promise<number> {
  const prototype = Array.prototype as unknown as Record<PropertyKey, unknown>
  const names = [...walks, Symbol.iterator]
  const originals = names.map((name) => prototype[name] as (...given: unknown[]) => unknown)
  let places = 0
  for (const [index, name] of names.entries())
    prototype[name] = function (this: unknown[], ...given: unknown[]) {
      places += this.length
      return originals[index]?.apply(this, given)
    }
  try {
    await work()
  } finally {
    for (const [index, name] of names.entries()) prototype[name] = originals[index]
  }
  return places
}

/** With the limits that an agent has by default, but for how many children it may have. */
const wide = (children: number, options: Parameters<typeof team>[1] = {}): Team =>
  team(
    {
      boss: {
        agents: ['kid'],
        limits: { maxChildren: children },
        script: ((_, step) =>
          step === 1
            ? { calls: Array.from({ length: children }, (_unused, i) => ask('kid', `${i}`)) }
            : { text: 'Done.' }) satisfies Script,
      },
      kid: { script: () => ({ text: 'ok' }) },
    },
    options,
  )

describe('very many children of one step', () => {
  it('cost no more each than few: no event of one walks through the others', async () => {
    const costOf = async (children: number): Promise<number> => {
      const { runtime } = wide(children)
      const places = await walked(async () => expect((await runtime.run('Go')).status).toBe('completed'))
      return places / children
    }
    await costOf(100)
    const few = await costOf(500)
    const many = await costOf(5_000)
    expect(few).toBeGreaterThan(100)
    expect(many).toBeLessThan(few * 1.5)
  })

  it('leave a journal that can be resumed at any event, byte for byte', async () => {
    const store = memoryStore()
    const { runtime } = wide(150, { store })
    const { sessionId: treeId, status } = await runtime.run('Go')
    expect(status).toBe('completed')
    const events = (await store.journal.read(treeId, 0)).filter(({ sessionId }) => sessionId === (treeId as string))
    expect(events.length).toBeGreaterThan(600)
    for (const length of cuts(events)) {
      const state = fold(events.slice(0, length))
      const stored = JSON.stringify(snapshotOf(state))
      const again = fold(events.slice(length), restore(JSON.parse(stored)))
      expect(JSON.stringify(snapshotOf(restore(JSON.parse(stored))))).toBe(stored)
      expect(decide(restore(JSON.parse(stored)))).toEqual(decide(state))
      expect(JSON.stringify(snapshotOf(again))).toBe(JSON.stringify(snapshotOf(fold(events))))
    }
  })
})

/** Some fifty places, those at both ends among them. */
const cuts = (events: readonly InteractionEvent[]): readonly number[] =>
  events.map((_, index) => index + 1).filter((length) => length % 13 === 0 || length < 8 || length > events.length - 8)
