import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { Model } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { postgresStore } from '../../src/stores/postgres/index.ts'
import { appended, batch, claimed, events, type one } from '../../src/testing/store-cases/sample-tree.ts'
import { createDatabase, createPostgresServer, type PostgresServer, systemBinaries } from './server.ts'

/** A server that the test may stop. */
async function ownServer(): Promise<PostgresServer> {
  const binaries = systemBinaries()
  if (binaries === undefined) throw new Error('This test starts a server of its own: install PostgreSQL.')
  const server = await createPostgresServer(binaries)
  onTestFinished(() => server.remove())
  return server
}

const awayMs = 2_000

it.each(['fast', 'immediate'] as const)('a restart of the server (%s) loses and repeats no write', async (how) => {
  const server = await ownServer()
  const { url } = await createDatabase(server.url)
  const store = await postgresStore({ url })
  onTestFinished(() => store.close())
  const trees = ['a', 'b', 'c'] as (typeof one)[]
  let isOver = false
  const writers = trees.map(async (treeId) => {
    const { epoch } = await claimed(store, treeId)
    let count = 0
    for (; !isOver; count += 1) {
      await appended(store, batch(treeId, epoch, { after: count, count: 1 }))
      await store.records.update('counts', treeId, (before) => ({ value: Number(before?.value ?? 0) + 1 }))
    }
    return count
  })
  await delay(200)
  await server.stop(how)
  await delay(awayMs)
  await server.start()
  await delay(500)
  isOver = true
  const counts = await Promise.all(writers)
  for (const [index, treeId] of trees.entries()) {
    assert.deepEqual(await store.journal.read(treeId, 0), events(treeId, 1, counts[index] ?? 0))
    assert.deepEqual(await store.records.get('counts', treeId), { key: treeId, value: counts[index] })
  }
})

it('a restart of the server fails no turn, and no call runs twice', async () => {
  const server = await ownServer()
  const { url } = await createDatabase(server.url)
  const store = await postgresStore({ url })
  onTestFinished(() => store.close())
  const steps = 20
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const model: Model = {
    id: 'test/slow',
    abilities: ['tools'],
    async *stream({ messages }) {
      await delay(100)
      const step = messages.filter(({ role }) => role === 'assistant').length
      const isLast = step === steps
      if (isLast) yield { type: 'text', text: 'done' }
      else yield { type: 'call', id: `c${step}`, name: 'count', input: JSON.stringify({ step, reason: 'because' }) }
      yield { type: 'finish', reason: isLast ? 'stop' : 'tool-calls', usage, costUsd: 0 }
    },
  }
  const calls: string[] = []
  const runtime = createAgentRuntime({
    config: {
      agents: [{ name: 'a', description: 'Counts', prompt: 'Count.', model: 'test/slow', limits: { maxToolTurns: 50 } }],
      tools: [
        {
          name: 'count',
          description: 'Counts',
          inputSchema: { type: 'object', properties: { step: { type: 'number' } }, required: ['step'] },
          execute: ({ step }, { sessionId }) => {
            calls.push(`${sessionId} ${String(step)}`)
            return 'counted'
          },
        },
      ],
    },
    adapter: model,
    store,
  })
  onTestFinished(() => runtime.close())
  const runs = Array.from({ length: 5 }, () => runtime.run('Go.'))
  await delay(700)
  await server.stop('fast')
  await delay(awayMs)
  await server.start()
  const outcomes = await Promise.all(runs)
  expect(outcomes.map(({ status, report }) => [status, report?.text])).toEqual(outcomes.map(() => ['completed', 'done']))
  expect([calls.length, new Set(calls).size]).toEqual([100, 100])
})
