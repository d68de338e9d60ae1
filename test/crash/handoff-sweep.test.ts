import { expect, it } from 'vitest'
import type { InteractionEvent, Outcome } from '../../src/contracts/index.ts'
import { judgeWrites } from './judge-writes.ts'
import { everyNth, everyPoint, expectNothingLost, faultless, isFull, pointsOf, type Subject, sweep } from './sweep.ts'

// A handoff in a process that is killed: every message of the person arrives once, no turn of the child is lost or repeated, and it
// ends once. TROUPE_FULL kills at every point, and twice at many; the short form samples the points evenly.

const tokens = ['boss-1', 'boss-2', 'coach-1', 'coach-2', 'coach-3']
const handoffs: Subject = { file: 'handoff-subject.mjs', mostFurtherLives: 6, judge: judgeWrites(tokens, wrongIn) }

it('a handoff: nothing is lost or repeated, wherever the process is killed', async () => {
  const [calm] = await sweep(handoffs, [[]])
  expect(calm?.verdict).toEqual(faultless)
  // Until each of the two coaches waits for a person, twice for the first, and to the end.
  const lives = pointsOf(calm)
  expect(lives).toHaveLength(4)
  const everywhere = everyPoint(lives)
  expect(everywhere.length).toBeGreaterThan(50)

  expectNothingLost('handoff, single', await sweep(handoffs, isFull ? everywhere : everyNth(everywhere, 16)))
  const doubles = everyNth(everywhere, isFull ? 2 : 40, 1).map((plan, index) => [...plan, 1 + ((index * 5) % 11)])
  expectNothingLost('handoff, double', await sweep(handoffs, doubles))
  for (const [index, how] of (['close', 'term'] as const).entries())
    expectNothingLost(`handoff, ${how}`, await sweep(handoffs, isFull ? everywhere : everyNth(everywhere, 36, 3 + index * 9), how))
}, 600_000)

function wrongIn(outcome: Outcome, events: readonly InteractionEvent[]): readonly string[] {
  return [...wrongEnd(outcome), ...wrongHandoffs(events), ...wrongInputs(events), ...wrongTotals(outcome, events)]
}

const asked =
  'The conversation of coach with the person ended before the task was done: the person asked for you.\nIts last answer:\nAgain?'

const wrongEnd = ({ status, message, report, speaker }: Outcome): readonly string[] =>
  status === 'completed' && report?.text === `coached / ${asked}` && !speaker ? [] : [`ended ${status}: ${message ?? report?.text}`]

function wrongHandoffs(events: readonly InteractionEvent[]): readonly string[] {
  const happened = events
    .flatMap((event) => {
      switch (event.type) {
        case 'interaction.handoff.started':
        case 'interaction.subagent.closed':
          return [`${event.type.split('.').at(-1)} ${event.childId.slice(-1)}`]
        case 'interaction.handoff.completed':
          return [event.reason]
        case 'interaction.turn.started':
          return event.agentPath === 'root' ? [] : [`${event.agentPath.slice(-1)}.${event.turnId}`]
        default:
          return []
      }
    })
    .join(' ')
  const right = 'started 1 1.t1 1.t2 1.t3 done closed 1 started 1 2.t1 asked closed 1'
  return happened === right ? [] : [happened]
}

function wrongInputs(events: readonly InteractionEvent[]): readonly string[] {
  const texts = events.flatMap((event) => {
    const [part] = event.type === 'interaction.input.accepted' ? event.parts : []
    return part?.type === 'text' ? [`${event.agentPath} ${part.text}`] : []
  })
  const right = ['root Do the work.', 'root/coach#1 first', 'root/coach#1 one', 'root/coach#1 two', 'root/coach#2 second', 'root /back']
  return texts.join() === right.join() ? [] : [`inputs ${texts.join()}`]
}

/** What the root says it took is what all attempts of all sessions took, each once. */
function wrongTotals(outcome: Outcome, events: readonly InteractionEvent[]): readonly string[] {
  const attempts = events.filter((event) => event.type === 'interaction.step.completed' || event.type === 'interaction.step.failed')
  const models = outcome.accounting.filter((entry) => entry.kind === 'model')
  const input = attempts.reduce((sum, { usage }) => sum + usage.input, 0)
  return [
    ...(outcome.usage.input === input ? [] : [`${input} tokens in the journal, ${outcome.usage.input} in the outcome`]),
    ...(models.length === attempts.length ? [] : [`${attempts.length} attempts, ${models.length} in the accounting`]),
  ]
}
