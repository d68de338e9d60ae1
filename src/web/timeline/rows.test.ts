import { describe, expect, it } from 'vitest'
import { Story } from '../../../test/fixtures/run-story.ts'
import type { StreamEvent } from '../../contracts/index.ts'
import { applyEvent, emptyTree, type RunTree } from '../../view/index.ts'
import { detailsOf } from './details-of.ts'
import { choicesOf, matcher, noFilter } from './filter.ts'
import { activeSpans, factsOf } from './row-facts.ts'
import { allRows, ancestorsOf, expandedRows, matchingRows, rowOf } from './rows.ts'

function treeOf(events: readonly StreamEvent[]): RunTree {
  const tree = emptyTree({ keepsContent: true })
  for (const event of events) applyEvent(tree, event)
  return tree
}

/** A step that is retried, an agent with a tool, a tool that fails, and a request that is open. */
function story(): RunTree {
  const events: StreamEvent[] = []
  const root = new Story('root', events).begins().asks(0, 1).fails(100, 1, { delayMs: 400 }).asks(500, 1, { attempt: 2 })
  root.answers(1_000, 1).calls(1_000, 1, { id: '1', tool: 'agent__scout', type: 'subagent_call' })
  const scout = new Story('root/scout#1', events).begins(1_000, {}, { of: 'root', call: 't1.s1.1' }).asks(1_000, 1).answers(1_500, 1)
  scout.calls(1_500, 1, { id: '1' }).ends(1_700, 1, { id: '1', latencyMs: 200 }).over(1_700)
  root.calls(1_000, 1, { id: '2', tool: 'book' }).ends(1_800, 1, { id: '2', latencyMs: 300, error: { class: 'network', message: 'No.' } })
  root.ends(1_800, 1, { id: '1', latencyMs: 800 }).asks(1_800, 2).answers(2_300, 2).wants(2_400, 2, { call: '1' })
  return treeOf(events)
}

describe('rows', () => {
  it('are agents, turns, steps, failed attempts, calls and open requests; an agent and its call are one', () => {
    const shown = allRows(story()).map((row) => {
      const { name, problem, status, durationMs } = factsOf(row.of, { value: 3_000 })
      return [row.level, name, status, problem, durationMs]
    })
    expect(shown).toEqual([
      [1, 'root', 'running', undefined, 3_000],
      [2, 'turn 1', 'running', undefined, 3_000],
      [3, 'fast · asks scout, calls book', 'completed', undefined, 1_000],
      [4, 'attempt 1', 'failed', 'rate limit', 100],
      [4, 'scout', 'completed', undefined, 700],
      [5, 'fast · calls look_up', 'completed', undefined, 500],
      [6, 'look_up', 'completed', undefined, 200],
      [4, 'book', 'failed', 'network', 300],
      [3, 'fast · calls write_file', 'suspended', undefined, 500],
      [4, 'write_file', 'suspended', 'approval required', 600],
    ])
  })

  it('show work and waiting time of agents, turns and calls of agents', () => {
    const events: StreamEvent[] = []
    const root = new Story('root', events).begins().asks(0, 1).answers(100, 1)
    root.calls(100, 1, { id: '1', tool: 'agent__scout', type: 'subagent_call' })
    const scout = new Story('root/scout#1', events).begins(100, {}, { of: 'root', call: 't1.s1.1' }).is(100, {
      type: 'interaction.input.accepted',
      clientId: 'm' as never,
      parts: [{ type: 'text', text: 'Look\nround' }],
      mode: 'queue',
    })
    const started = {
      type: 'interaction.subagent.started',
      childId: 'root/scout#1' as never,
      agent: 'scout',
      childPath: 'root/scout#1',
    } as const
    root.is(100, started, 1)
    scout.asks(100, 1).answers(200, 1).wants(200, 1, { call: '1' })
    const times = (now: number) =>
      allRows(treeOf(events)).flatMap(({ of }) => {
        const { name, durationMs, waitedMs } = factsOf(of, { value: now })
        return waitedMs === undefined ? [] : [[name, durationMs, waitedMs]]
      })
    expect(times(50_200)).toEqual([
      ['root', 50_200, 50_000],
      ['turn 1', 50_200, 50_000],
      ['scout', 50_100, 50_000],
    ])
    const child = rowOf(allRows(treeOf(events)), 'root/t1.s1.1')!.of
    expect(detailsOf(child, factsOf(child, { value: 0 })).sections[0]).toEqual({ name: 'Task', text: 'Look\nround' })
  })

  it('of agents that a tool has started are below the tool', () => {
    const events: StreamEvent[] = []
    const root = new Story('root', events).begins().asks(0, 1).answers(100, 1).calls(100, 1, { id: '1', tool: 'plan' })
    for (const path of ['root/scout#1', 'root/guide#1'])
      new Story(path, events).begins(100, {}, { of: 'root', call: 't1.s1.1' }).asks(100, 1).answers(200, 1).over(200)
    root.ends(300, 1, { id: '1', latencyMs: 200 })
    const shown = allRows(treeOf(events)).map((row) => `${row.level} ${factsOf(row.of, { value: 300 }).name}`)
    expect(shown.slice(3)).toEqual(['4 plan', '5 scout', '6 fast · replies', '5 guide', '6 fast · replies'])
  })

  it('have positions among their siblings, also of those that match', () => {
    const rows = allRows(story())
    expect(rows.map(({ position, parent }) => `${position}/${parent?.children ?? 1}`).join(' ')).toBe(
      '1/1 1/1 1/2 1/3 2/3 1/1 1/1 3/3 2/2 1/1',
    )
    const failed = matchingRows(rows, matcher({ ...noFilter, status: 'failed' }))
    expect(failed.matches).toBe(2)
    expect(failed.rows.map((row) => factsOf(row.of, { value: 0 }).name)).toEqual([
      'root',
      'turn 1',
      'fast · asks scout, calls book',
      'attempt 1',
      'book',
    ])
    expect(failed.rows.map(({ position, parent }) => `${position}/${parent?.children ?? 1}`).join(' ')).toBe('1/1 1/1 1/1 1/2 2/2')
  })

  it('below a collapsed row are hidden', () => {
    const rows = allRows(story())
    expect(expandedRows(rows, new Set(['root/t1.s1'])).map(({ level }) => level)).toEqual([1, 2, 3, 3, 4])
    expect(expandedRows(rows, new Set(['root', 'root/t1.s1']))).toHaveLength(1)
  })

  it('are found by the id of their node, a text by its step', () => {
    const rows = allRows(story())
    expect(rowOf(rows, 'root/t1.s1.2')?.of.kind).toBe('call')
    expect(rowOf(rows, 'root/t1.s2.9')?.id).toBe('root/t1.s2')
    expect(rowOf(rows, 'nothing')).toBeUndefined()
    expect(ancestorsOf(rowOf(rows, 'root/scout#1/t1.s1.1')!)).toEqual([
      'root/scout#1/t1.s1',
      'root/t1.s1.1',
      'root/t1.s1',
      'root/t1',
      'root',
    ])
  })

  it('of 10,000 calls cost no more than a moment', () => {
    const run = new Story().begins().asks(0, 1).answers(1, 1)
    for (let i = 1; i <= 10_000; i++) run.calls(1, 1, { id: String(i) })
    expect(allRows(treeOf(run.events))).toHaveLength(10_003)
  })
})

describe('a filter', () => {
  const names = (filter: Partial<typeof noFilter>): readonly string[] => {
    const rows = allRows(story())
    return rows.filter(matcher({ ...noFilter, ...filter })).map((row) => factsOf(row.of, { value: 0 }).name)
  }

  it.each([
    [{ text: 'NETWORK book' }, ['book']],
    [{ agent: 'scout' }, ['scout', 'fast · calls look_up', 'look_up']],
    [{ tool: 'look_up' }, ['look_up']],
    [{ status: 'waiting' }, ['fast · calls write_file', 'write_file']],
    [{ status: 'failed', agent: 'scout' }, []],
  ] as const)('%j', (filter, expected) => expect(names(filter)).toEqual(expected))

  it('offers the names that occur', () => {
    expect(choicesOf(allRows(story()))).toEqual({ agents: ['root', 'scout'], tools: ['book', 'look_up', 'write_file'] })
  })
})

describe('segments', () => {
  const kinds = (tree: RunTree, id: string, now: number) =>
    factsOf(rowOf(allRows(tree), id)!.of, { value: now }).segments.map(({ kind, from, to, isOpen, isFailed }) => [
      `${isFailed ? 'failed ' : ''}${kind}${isOpen ? '…' : ''}`,
      from,
      to,
    ])

  it('of a step are its attempts and the waits between them', () => {
    expect(kinds(story(), 'root/t1.s1', 0)).toEqual([
      ['failed model', 0, 100],
      ['queue', 100, 500],
      ['model', 500, 1_000],
    ])
  })

  it('of a call are its waits and its work', () => {
    const run = new Story().begins().asks(0, 1).answers(500, 1).wants(500, 1, { call: '1' }).decides(4_500, 1, { call: '1' })
    run.calls(4_500, 1, { id: '1', by: 'me' })
    expect(kinds(treeOf(run.events), 'root/t1.s1.1', 4_700)).toEqual([
      ['approval', 500, 4_500],
      ['tool…', 4_500, 4_700],
    ])
    run.ends(5_000, 1, { id: '1', latencyMs: 300 })
    expect(kinds(treeOf(run.events), 'root/t1.s1.1', 9_000)).toEqual([
      ['approval', 500, 4_500],
      ['queue', 4_500, 4_700],
      ['tool', 4_700, 5_000],
    ])
  })

  it('of a call that asks while it runs do not overlap, and the wait is not active', () => {
    const run = new Story().begins().asks(0, 1).answers(500, 1).calls(500, 1, { id: '1' })
    run.wants(1_000, 1, { call: '1', scope: 'question' }).decides(61_000, 1, { call: '1', decision: { kind: 'answer', text: 'Yes.' } })
    run.ends(62_000, 1, { id: '1', latencyMs: 61_500 }).over(62_000)
    const tree = treeOf(run.events)
    expect(kinds(tree, 'root/t1.s1.1', 0)).toEqual([
      ['approval', 1_000, 61_000],
      ['tool', 500, 1_000],
      ['tool', 61_000, 62_000],
    ])
    expect(activeSpans(allRows(tree), 0).reduce((sum, { from, to }) => sum + to - from, 0)).toBe(2_000)
  })

  it('of a suspended turn end with a wait that grows', () => {
    const run = new Story().begins().asks(0, 1).answers(500, 1).wants(500, 1, { call: '1' })
    run.is(600, { type: 'interaction.turn.suspended', reason: 'approval', approvals: [] })
    expect(kinds(treeOf(run.events), 'root/t1', 9_000)).toEqual([
      ['child', 0, 600],
      ['approval…', 600, 9_000],
    ])
  })
})
