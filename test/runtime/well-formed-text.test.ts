import { expect, test } from 'vitest'
import { bounded, journalOf, objectSchema, parts, rawModel, resultsIn, tool, world } from '../acceptance/support.ts'
import { stage } from './approval-stage.ts'

// Half of a surrogate pair is no text: whatever comes in with one goes on with U+FFFD, to the model and into the journal.

const half = '\ud83d'
/** JSON writes a half as an escape; a whole pair that a model has escaped is none. */
const halvesIn = (value: unknown) =>
  JSON.stringify(value)
    .replaceAll(/\\+ud83d\\+ude00/g, '')
    .match(/\\ud[89a-f]../gi)

test('prompts, arguments, results, their values and failures, and replies are well formed everywhere', async () => {
  const got: unknown[] = []
  const echo = tool('echo', {
    schema: objectSchema({ said: { type: 'string' } }),
    execute: (input) => {
      got.push(input)
      return { ok: true, content: `out ${half}`, value: { [`k${half}`]: [`v${half}`] } }
    },
  })
  const fail = tool('fail', { execute: () => Promise.reject(new Error(`bad ${half}`)) })
  const { model, requests } = rawModel([
    () =>
      parts([
        { type: 'reasoning', text: `think ${half}` },
        { type: 'call', id: `c1${half}`, name: 'echo', input: `{"said":"raw ${half}"}` },
        { type: 'call', id: 'c2', name: 'echo', input: '{"said":"escaped \\ud83d, whole \\ud83d\\ude00"}' },
        { type: 'call', id: 'c3', name: 'fail', input: '{}' },
        { type: 'finish', reason: 'tool-calls' },
      ]),
    // A pair that comes in two pieces is one letter.
    () =>
      parts([
        { type: 'text', text: `done ${half}` },
        { type: 'text', text: `\ude00 ${half}` },
        { type: 'finish', reason: 'stop' },
      ]),
    () =>
      parts([
        { type: 'text', text: 'again' },
        { type: 'finish', reason: 'stop' },
      ]),
  ])
  const { runtime, store } = world({ adapter: model, tools: [echo, fail] })
  const outcome = await bounded(runtime.run(`go ${half}`))
  expect(outcome.report?.text).toBe('done 😀 \ufffd')
  expect(got).toEqual([{ said: 'raw \ufffd' }, { said: 'escaped \ufffd, whole 😀' }])
  expect(resultsIn(requests[1]).map(({ content }) => content)).toEqual(['out \ufffd', 'out \ufffd', 'Error (failed): bad \ufffd'])
  await bounded(runtime.sessions.send(outcome.sessionId, [{ type: 'text', text: `more ${half}` }]))
  await bounded((await runtime.open(outcome.sessionId)).outcome)
  const journal = await journalOf(store, outcome.sessionId)
  expect(journal.filter(({ type }) => type === 'interaction.input.accepted')).toHaveLength(2)
  expect(halvesIn(journal)).toBe(null)
  expect(halvesIn(requests)).toBe(null)
})

test('a JSON answer is well formed', async () => {
  const { runtime } = world({
    steps: [{ text: '{"name":"x\\ud83d"}' }],
    config: { agents: [{ name: 'clerk', description: 'd', prompt: 'p', model: 'any', output: { format: 'json' } }] as never },
  })
  const { report } = await bounded(runtime.run('go'))
  expect(report).toMatchObject({ format: 'json', value: { name: 'x\ufffd' } })
})

test('what is asked of a person, and what they answer, is well formed', async () => {
  const write = tool('write', { approval: () => ({ summary: `Write ${half}`, keys: [{ key: `k${half}`, label: half }] }) })
  const made = stage({
    steps: [{ calls: [{ tool: 'write' }] }, { text: 'Done.' }],
    tools: [write],
    decide: () => ({ kind: 'deny', feedback: `no ${half}` }),
  })
  const { sessionId } = await bounded(made.runtime.run('go'))
  expect(made.asked[0]).toMatchObject({ summary: 'Write \ufffd' })
  expect(halvesIn(await journalOf(made.store, sessionId))).toBe(null)
})

test.each([
  ['an object', { code: 5, reason: 'disk on fire' }, '{"code":5,"reason":"disk on fire"}'],
  ['an error without words', new RangeError(''), 'RangeError'],
  ['a cause', new Error('could not read', { cause: new Error('EACCES', { cause: 'no rights' }) }), 'could not read (EACCES (no rights))'],
  ['a cause that is told already', new Error('failed: EACCES', { cause: new Error('EACCES') }), 'failed: EACCES'],
  [
    'several errors',
    new AggregateError([new Error('first'), 'second', { third: 3 }], 'all failed'),
    'all failed (first; second; {"third":3})',
  ],
  ['several errors alone', new AggregateError([new Error('first'), new Error('second')]), 'first; second'],
  ['a circle', circular(), 'round (and round)'],
])('what a tool throws keeps its words: %s', async (_, thrown, message) => {
  const { runtime, model } = world({
    steps: [{ calls: [{ tool: 'fail' }] }, { text: 'Done.' }],
    tools: [tool('fail', { execute: () => Promise.reject(thrown) })],
  })
  await bounded(runtime.run('go'))
  expect(resultsIn(model.requests[1])[0]?.content).toBe(`Error (failed): ${message}`)
})

test('many errors are reported in few words', async () => {
  const deep = (depth: number): Error =>
    depth === 0
      ? new Error('x'.repeat(10_000))
      : new AggregateError(Array.from({ length: 50 }, () => deep(depth - 1)).slice(0, depth > 2 ? 2 : 50), `level ${depth}`)
  const { runtime, model } = world({
    steps: [{ calls: [{ tool: 'fail' }] }, { text: 'Done.' }],
    tools: [tool('fail', { execute: () => Promise.reject(deep(3)) })],
  })
  await bounded(runtime.run('go'))
  const { content = '' } = resultsIn(model.requests[1])[0] ?? {}
  expect(content).toContain('Error (failed): level 3 (level 2 (level 1 (')
  expect(content.length).toBeLessThan(5_000)
})

function circular(): Error {
  const [round, back] = [new Error('round'), new Error('and round')]
  round.cause = back
  back.cause = round
  return round
}
