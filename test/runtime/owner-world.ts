import { setImmediate as macrotask } from 'node:timers/promises'
import { expect } from 'vitest'
import type { InteractionEvent, Outcome, OwnerBudget, OwnerUsage, Principal, SessionId, Store, TreeId } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate } from '../../src/testing/index.ts'
import { dataFolder } from '../fixtures/data-folder.ts'
import { type Member, type Script, type TeamOptions, team } from '../subagents/team.ts'

// Sessions of an owner with a budget. Two worlds on one store are two processes.

const ci: Principal = { id: 'token:ci', kind: 'token', name: 'ci' }
export const day = '2026-01-01'
export const dayMs = 86_400_000

export const stores: { readonly [name: string]: () => Promise<() => Store> } = {
  memory: async () => {
    const store = memoryStore()
    return () => store
  },
  SQLite: async () => {
    const folder = await dataFolder()
    return () => folder.open()
  },
}

export const noLimits = { maxTokens: 10_000_000, timeBudget: 3_600_000, maxToolTurns: 20, maxRetries: 0 }
export const says = (text: string, usage = { input: 10, output: 140 }): Member => ({ script: () => ({ text, usage }), limits: noLimits })

/** It answers when the test opens `answer`. */
export function gated(usage: { readonly input: number; readonly output: number }) {
  const [asked, answer] = [gate(), gate()]
  const script: Script = async () => {
    asked.open()
    await answer.promise
    return { text: 'Done.', usage }
  }
  return { asked, answer, lead: { script, limits: noLimits } }
}

const waitMs = 30_000

class WatchedClock extends FakeClock {
  /** How many sessions have begun to wait before they are created. */
  waits = 0

  override after(ms: number, fire: () => void): () => void {
    if (ms === waitMs) this.waits++
    return super.after(ms, fire)
  }
}

interface World extends TeamOptions {
  readonly store: Store
  readonly budget: OwnerBudget | undefined | (() => OwnerBudget | undefined)
}

export function world(members: { readonly [name: string]: Member }, { budget, ...options }: World) {
  const clock = new WatchedClock()
  const owners: string[] = []
  const budgetOf = (owner: string) => {
    owners.push(owner)
    return typeof budget === 'function' ? budget() : budget
  }
  const { runtime } = team(members, { clock, budgetOf, ids: uniqueIds(), ...options })
  const { sessions } = runtime
  return {
    runtime,
    clock,
    sessions,
    owners,
    start: (input = 'Go', more = {}) => sessions.start(input, { principal: ci, ...more }),
    async ask(input = 'Go'): Promise<Outcome> {
      return sessions.outcome(await sessions.start(input, { principal: ci }))
    },
  }
}

/** A session that others let wait is created after 30 seconds, if what they leave pays an answer. */
export async function startLate(at: ReturnType<typeof world>, input: string): Promise<SessionId> {
  let isOver = false
  const starting = at.start(input)
  const over = () => {
    isOver = true
  }
  void starting.then(over, over)
  const before = at.clock.waits
  while (!isOver && at.clock.waits === before) await macrotask()
  if (!isOver) at.clock.advance(waitMs)
  return starting
}

let lastId = 0
const uniqueIds = () => ({ next: () => `id-${++lastId}` })

/** What is stored and shown is exact to the nano-dollar. */
export function nanos(usd: number | 'unknown'): number {
  const count = Math.round(Number(usd) * 1e9)
  expect(usd).toBe(count / 1e9)
  return count
}

export const usageOf = (events: readonly InteractionEvent[]): OwnerUsage => {
  let [tokens, nanoUsd] = [0, 0]
  for (const event of events) {
    const used = event.type === 'interaction.subagent.selected' ? event.asked : 'usage' in event && 'cost' in event ? event : undefined
    if (!used) continue
    tokens += used.usage.input + used.usage.output
    if (used.cost !== 'unknown') nanoUsd += nanos(used.cost)
  }
  return { tokens, costUsd: nanoUsd / 1e9 }
}

export async function allEvents({ journal, trees }: Store): Promise<readonly InteractionEvent[]> {
  const lists = await Promise.all((await trees.list()).map(async ({ treeId }) => journal.read(treeId as TreeId, 0)))
  return lists.flat()
}
