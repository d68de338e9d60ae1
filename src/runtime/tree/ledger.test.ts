import { describe, expect, it } from 'vitest'
import {
  type Append,
  type AppendBatch,
  type InteractionEvent,
  type ItemId,
  OpenRequests,
  type SessionId,
  type StepId,
  type StreamEvent,
  type TreeId,
  type TreeSummary,
  type TurnId,
} from '../../contracts/index.ts'
import { Ledger } from './ledger.ts'

const treeId = 'tree' as TreeId
const speaker = { treeId, sessionId: 'tree' as SessionId, agentPath: 'root' }
const event = (): InteractionEvent => ({ type: 'interaction.session.idle', seq: 0, ...speaker, at: 0 })
const delta = (text: string) => ({
  type: 'interaction.item.delta' as const,
  ...speaker,
  turnId: 't1' as TurnId,
  stepId: 't1.s1' as StepId,
  itemId: 't1.s1.1' as ItemId,
  attempt: 1,
  kind: 'text' as const,
  text,
  offset: 0,
})

/** A journal whose answers are given by hand. */
class HandJournal {
  readonly batches: AppendBatch[] = []
  readonly #answers: { resolve(answer: Append): void; reject(error: Error): void }[] = []

  append = (batch: AppendBatch): Promise<Append> => {
    this.batches.push(batch)
    return new Promise((resolve, reject) => this.#answers.push({ resolve, reject }))
  }

  answer(answer: Append = { ok: true }): void {
    this.#answers.shift()?.resolve(answer)
  }

  fail(error: Error): void {
    this.#answers.shift()?.reject(error)
  }
}

function push(ledger: Ledger): void {
  ledger.push({ ...event(), seq: ledger.nextSeq, at: ledger.now })
}

function setUp(append: (batch: AppendBatch) => Append | Promise<Append>) {
  const published: StreamEvent[] = []
  let time = 0
  const summaries: TreeSummary[] = []
  const ledger = new Ledger({
    journal: { append },
    requests: new OpenRequests(),
    treeId,
    epoch: 3,
    seq: 10,
    now: () => ++time,
    at: (moment) => moment,
    summary: () => summaries.shift(),
    publish: (event) => published.push(event),
  })
  const shown = () => published.map((event) => ('seq' in event ? event.seq : 'text' in event && event.text))
  return { ledger, shown, summaries }
}

describe('Ledger', () => {
  it('numbers without a gap and passes on one batch (1, 3)', () => {
    const batches: AppendBatch[] = []
    const { ledger, summaries } = setUp((batch) => {
      batches.push(batch)
      return { ok: true }
    })
    push(ledger)
    push(ledger)
    expect(ledger.flush()).toBeUndefined()
    expect(ledger.flush()).toBeUndefined()
    push(ledger)
    summaries.push({ agent: 'a', title: 't', status: 'running', openRequests: 0 })
    void ledger.flush()
    expect(batches).toEqual([
      {
        treeId,
        expectedSeq: 10,
        epoch: 3,
        events: [
          { ...event(), seq: 11, at: 1 },
          { ...event(), seq: 12, at: 2 },
        ],
      },
      {
        treeId,
        expectedSeq: 12,
        epoch: 3,
        events: [{ ...event(), seq: 13, at: 3 }],
        summary: { agent: 'a', title: 't', status: 'running', openRequests: 0 },
      },
    ])
  })

  it('publishes nothing before it is durable, and keeps live events in their place (2)', async () => {
    const journal = new HandJournal()
    const { ledger, shown } = setUp(journal.append)
    ledger.live(delta('before'))
    push(ledger)
    ledger.live(delta('between'))
    const first = ledger.flush()
    push(ledger)
    ledger.live(delta('after'))
    const second = ledger.flush()
    expect(shown()).toEqual(['before'])
    journal.answer()
    await first
    expect(shown()).toEqual(['before', 11, 'between'])
    journal.answer()
    await second
    expect(shown()).toEqual(['before', 11, 'between', 12, 'after'])
    expect(journal.batches.map((batch) => batch.expectedSeq)).toEqual([10, 11])
    expect(ledger.flush()).toBeUndefined()
  })

  it('writes nothing more after a refusal (4)', async () => {
    const journal = new HandJournal()
    const { ledger, shown } = setUp(journal.append)
    push(ledger)
    const writing = ledger.flush()
    journal.answer({ ok: false, refusal: 'epoch' })
    await expect(writing).rejects.toMatchObject({ code: 'session_moved' })
    push(ledger)
    expect(() => ledger.flush()).toThrow(/taken over/)
    expect(journal.batches).toHaveLength(1)
    expect(shown()).toEqual([])
  })

  it('passes a failure of the store on to everyone who waits (4)', async () => {
    const journal = new HandJournal()
    const { ledger } = setUp(journal.append)
    push(ledger)
    const first = ledger.flush()
    push(ledger)
    const second = ledger.flush()
    journal.fail(new Error('disk full'))
    journal.answer()
    await expect(first).rejects.toThrow('disk full')
    await expect(second).rejects.toThrow('disk full')
    expect(() => ledger.flush()).toThrow('disk full')
  })

  it('refuses immediately if the journal answers synchronously', () => {
    const { ledger } = setUp(() => ({ ok: false, refusal: 'missing' }))
    push(ledger)
    expect(() => ledger.flush()).toThrow(/has no session/)
    expect(() => ledger.flush()).toThrow(/has no session/)
  })
})
