import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { InteractionEvent, Store, TreeId } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { decodeTree, encodeTree, snapshotVersion } from '../../src/runtime/journal/tree-snapshot.ts'
import { foldTree } from '../../src/runtime/journal/tree-state.ts'
import { type DataFolder, dataFolder } from '../fixtures/data-folder.ts'
import { changedStore } from '../runtime/changed-store.ts'
import { ask, scripted, send, team } from '../subagents/team.ts'

const reading = { name: 'look', description: 'Looks.', inputSchema: { type: 'object', properties: {} }, effect: 'read' as const }

/** A runtime of a process to come, and how many events it reads at a time. */
function anew(folder: DataFolder) {
  const inner = folder.open()
  const pages: number[] = []
  const { snapshots } = inner
  const store: Store = {
    ...changedStore(inner, {
      read: async (treeId, after, limit) => {
        const events = await inner.journal.read(treeId, after, limit)
        pages.push(events.length)
        return events
      },
    }),
    ...(snapshots && { snapshots }),
  }
  const look = { ...reading, concurrency: 'shared' as const, execute: () => 'seen' }
  const steps = 21
  const calls = Array.from({ length: 100 }, (_, i) => ({ tool: 'look', input: { at: i } }))
  const model = scripted('clerk', (_, step) => (step <= steps ? { calls } : { text: 'Done.' }))
  const limits = { maxToolTurns: 30, maxCalls: 10_000, parallelToolCalls: 100 }
  const agents = [{ name: 'clerk', description: 'A test', prompt: 'You are tested.', model: 'any', tools: ['look'], limits }]
  const runtime = createAgentRuntime({ config: { agents, tools: [look] }, adapter: model, store })
  const close = async (): Promise<void> => {
    await runtime.close()
    await inner.close()
  }
  return { runtime, pages, close }
}

function change(folder: DataFolder, sql: string): void {
  const database = new DatabaseSync(folder.file)
  expect(database.prepare(sql).run().changes).toBe(1)
  database.close()
}

describe('a long journal', () => {
  it('is not read again from its beginning, unless its snapshot does not fit; then it is, page by page', async () => {
    const folder = await dataFolder()
    const first = anew(folder)
    const outcome = await first.runtime.run('Go')
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'Done.' } })
    await first.close()

    const open = async (): Promise<readonly number[]> => {
      const { runtime, pages, close } = anew(folder)
      await runtime.open(outcome.sessionId)
      expect(await runtime.sessions.outcome(outcome.sessionId)).toEqual(JSON.parse(JSON.stringify(outcome)))
      await close()
      return pages
    }
    const sum = (pages: readonly number[]): number => pages.reduce((all, page) => all + page, 0)
    // How it began is looked at, and no more.
    expect(sum(await open())).toBeLessThan(5)
    for (const damage of [
      "UPDATE snapshots SET version = 'another'",
      "UPDATE snapshots SET state = replace(state, 'Done.', 'Fine.')",
      'UPDATE snapshots SET seq = seq - 1',
      'UPDATE snapshots SET seq = seq + 1000000',
      'DELETE FROM snapshots',
    ]) {
      change(folder, damage)
      const pages = await open()
      expect(sum(pages), damage).toBeGreaterThan(4200)
      expect(Math.max(...pages)).toBeLessThanOrEqual(256)
      // It was stored anew.
      expect(sum(await open()), damage).toBeLessThan(5)
    }
  })
})

/** A tree with everything that a state may hold: children, requests, many calls, a plan, inputs that wait. */
async function richJournal(): Promise<readonly InteractionEvent[]> {
  const many = Array.from({ length: 40 }, (_, i) => ({ tool: 'look', input: { at: i } }))
  const plan = {
    ...reading,
    name: 'plan',
    execute: (_: object, { updatePlan }: { updatePlan(plan: object): void }) => {
      updatePlan({ steps: [{ step: 'One', status: 'in_progress' }] })
      return 'planned'
    },
  }
  const { run } = team(
    {
      boss: {
        agents: ['kid'],
        tools: ['look', 'plan', 'send'],
        script: (_, step) =>
          [{ calls: [{ tool: 'plan' }] }, { calls: many }, { calls: [ask('kid', 'a'), ask('kid', 'b')] }, { calls: [{ tool: 'send' }] }][
            step - 1
          ] ?? { text: 'Done.' },
      },
      kid: { script: () => ({ text: 'ok', usage: { input: 3, output: 2 } }) },
    },
    {
      tools: [{ ...reading, execute: () => 'seen' }, plan as never, send],
      approver: { decide: () => ({ decision: { kind: 'approve', breadth: 'session' }, by: 'ann' }) },
    },
  )
  return JSON.parse(JSON.stringify((await run()).events))
}

describe('a stored state', () => {
  it('is continued from any event as the journal itself is', async () => {
    const events = await richJournal()
    const types = new Set(events.map(({ type }) => type))
    for (const type of ['interaction.approval.requested', 'interaction.subagent.completed', 'interaction.turn.completed'] as const)
      expect(types).toContain(type)
    const whole = JSON.parse(encodeTree(foldTree(events)))
    for (let at = 1; at <= events.length; at += 1) {
      const folded = foldTree(events.slice(0, at))
      const decoded = decodeTree(encodeTree(folded))
      expect(decoded).toEqual(folded)
      expect(JSON.parse(encodeTree(foldTree(events.slice(at), decoded)))).toEqual(whole)
    }
  })

  it('has another version when the same events are folded into something else', async () => {
    const folder = await dataFolder()
    await writeFile(folder.file, gunzipSync(await readFile(new URL('schema-1.db.gz', import.meta.url))))
    const { journal } = folder.open()
    const hash = createHash('sha256')
    for (const treeId of ['id-2', 'id-4'] as TreeId[]) hash.update(encodeTree(foldTree(await journal.read(treeId, 0))))
    // If this differs, states are folded otherwise than those that are stored: raise snapshotVersion, and set both here.
    expect([snapshotVersion, hash.digest('hex').slice(0, 16)]).toEqual(['10', '247532d1d6fc6fa7'])
  })
})
