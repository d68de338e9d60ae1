import { describe, expect, it } from 'vitest'
import type { InteractionEvent, Outcome } from '../../src/contracts/index.ts'
import { judgeWrites, unknownWrites } from './judge-writes.ts'
import { everyNth, everyPoint, expectNothingLost, faultless, isFull, pointsOf, type Subject, sweep } from './sweep.ts'
import { wrongEnds } from './wrong-ends.ts'

// Calls of agents in a process that is killed. Neither the start of a child nor its end waits for the journal: what is lost is asked
// again, and whatever acts has waited. TROUPE_FULL kills at every point, and twice at many; the short form samples the points evenly.

const tokens = ['boss-1', 'boss-2', 'writer-1', 'writer-2']
const called: Subject = { file: 'called-subject.mjs', mostFurtherLives: 3, judge: judgeWrites(tokens, wrongIn) }

describe.each([
  { name: 'called', subject: called, nth: 7 },
  { name: 'called, with hooks', subject: { ...called, args: ['hooked'] }, nth: 14 },
])('$name', ({ name, subject, nth }) => {
  it('nothing is lost or repeated, and no effect comes before its record, wherever the process is killed', async () => {
    const [calm] = await sweep(subject, [[]])
    expect(calm?.verdict).toEqual(faultless)
    const everywhere = everyPoint(pointsOf(calm))
    expect(everywhere.length).toBeGreaterThan(60)

    expectNothingLost(`${name}, single`, await sweep(subject, isFull ? everywhere : everyNth(everywhere, nth)))
    const doubles = everyNth(everywhere, isFull ? 2 : 5 * nth, 1).map((plan, index) => [...plan, 1 + ((index * 5) % 23)])
    expectNothingLost(`${name}, double`, await sweep(subject, doubles))
    for (const [index, how] of (['close', 'term'] as const).entries())
      expectNothingLost(`${name}, ${how}`, await sweep(subject, isFull ? everywhere : everyNth(everywhere, 4 * nth, 3 + index * 9), how))
  }, 600_000)
})

function wrongIn({ status, message, report, usage }: Outcome, events: readonly InteractionEvent[]): readonly string[] {
  const created = events.flatMap(({ type, agentPath }) => (type === 'interaction.session.created' ? [agentPath] : []))
  const isLost = unknownWrites(events).includes('boss-1')
  // The tool that starts it is not run again if its result is unknown. Then its child was started or not, and is ended.
  const sessions = ['root', 'root/thinker#1', 'root/thinker#2', ...(isLost ? created.slice(4) : ['root/thinker#3']), 'root/writer#1']
  const attempts = events.filter((event) => event.type === 'interaction.step.completed' || event.type === 'interaction.step.failed')
  const input = attempts.reduce((sum, attempt) => sum + attempt.usage.input, 0)
  return [
    ...(status === 'completed' && report?.text === 'All done.' ? [] : [`ended ${status}: ${message ?? report?.text}`]),
    ...(created.toSorted().join() === sessions.toSorted().join() ? [] : [`sessions ${created.join()}`]),
    ...(usage.input === input ? [] : [`${input} tokens in the journal, ${usage.input} in the outcome`]),
    ...wrongEnds(events).filter((end) => !(isLost && endsOfLost.includes(end))),
  ]
}

const endsOfLost = ['interaction.turn.interrupted of root/thinker#3', 'interaction.subagent.failed of root']
