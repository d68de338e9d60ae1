import { expect, test } from 'vitest'
import { Story } from '../../../test/fixtures/run-story.ts'
import { logLine } from './json-log.ts'

const log = ({ events }: Story): readonly object[] =>
  events.flatMap((event) => {
    const line = logLine(event, { now: 5000 })
    return line === undefined ? [] : [JSON.parse(line)]
  })

test('who waits for a queue is a line, and when that is over', () => {
  const waits = log(new Story().begins().waits('lab', 1000).waits('lab', 1000, { how: 'left' })).slice(-2)
  const where = { treeId: 'tree', sessionId: 'root', agentPath: 'root', turnId: 't1', time: '1970-01-01T00:00:05.000Z', level: 'debug' }
  const since = '1970-01-01T00:00:01.000Z'
  expect(waits).toEqual([
    { ...where, event: 'interaction.queue.joined', msg: 'waiting for queue lab', queue: 'lab', since },
    { ...where, event: 'interaction.queue.left', msg: 'no longer waiting for queue lab', queue: 'lab', since },
  ])
})

test('each thing that happens is a line, with where it happened and its figures', () => {
  const story = new Story()
    .begins()
    .asks(10, 1)
    .says(1, 'not for a log')
    .fails(20, 1)
    .asks(30, 1, { attempt: 2 })
    .answers(40, 1)
    .calls(50, 1, { id: '1', tool: 'book', title: 'Two nights' })
    .says(1, 'half way', { kind: 'progress', item: '1' })
    .ends(60, 1, { id: '1', error: { class: 'network', message: 'No answer.' } })
    .over(70, { status: 'partial', reason: 'steps' })
  expect(log(story).map((line) => ('level' in line && 'msg' in line ? `${line.level} ${line.msg}` : ''))).toEqual([
    'info session created: root',
    'info turn started',
    'info model request: fast',
    'warn model failed: rate_limit: too many requests',
    'info model request: fast',
    'info model answered in 500 ms',
    'info call started: book',
    'debug half way',
    'warn call failed: network: No answer.',
    'warn turn partial: steps',
  ])
  expect(log(story)[5]).toEqual({
    time: '1970-01-01T00:00:00.040Z',
    level: 'info',
    msg: 'model answered in 500 ms',
    event: 'interaction.step.completed',
    treeId: 'tree',
    sessionId: 'root',
    agentPath: 'root',
    turnId: 't1',
    stepId: 't1.s1',
    seq: 6,
    finish: 'stop',
    usage: { input: 100, output: 20, cacheRead: 0, cacheWrite: 0, reasoning: 0 },
    cost: 0.002,
    latencyMs: 500,
  })
})

test('what was said to tools and by them is not in the log', () => {
  const story = new Story().begins().calls(0, 1, { id: '1' }).ends(1, 1, { id: '1' })
  expect(JSON.stringify(log(story))).not.toMatch(/Oslo|dry/)
})

test('a line is one line and cannot steer a terminal, and says the same', () => {
  const message = 'a\u001b[2J\u009b31m\u202e\u2028\u{e0001}b\n'
  const story = new Story().notes(0, { code: 'model_notice', severity: 'info', message: 'x', remedy: message })
  const [event] = story.events
  const line = event && logLine(event, { now: 0 })
  expect(line).not.toMatch(/[\p{Cc}\p{Cf}\u2028]/u)
  expect(JSON.parse(line ?? '')).toMatchObject({ remedy: message })
})
