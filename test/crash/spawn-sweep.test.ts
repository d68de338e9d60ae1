import { expect, it } from 'vitest'
import type { InteractionEvent, Outcome } from '../../src/contracts/index.ts'
import { judgeWrites } from './judge-writes.ts'
import { everyNth, everyPoint, expectNothingLost, faultless, isFull, pointsOf, type Subject, sweep } from './sweep.ts'

// Spawned children in a process that is killed: none is lost, none starts twice, each report and each input arrives once.
// TROUPE_FULL kills at every point, and twice at many; the short form samples the points evenly.

const tokens = ['boss-1', 'boss-2', 'boss-3', 'scout-1', 'scout-2']
const spawning: Subject = { file: 'spawn-subject.mjs', mostFurtherLives: 3, judge: judgeWrites(tokens, wrongIn) }

it('spawned children: nothing is lost or repeated, wherever the process is killed', async () => {
  const [calm] = await sweep(spawning, [[]])
  expect(calm?.verdict).toEqual(faultless)
  const everywhere = everyPoint(pointsOf(calm))
  expect(everywhere.length).toBeGreaterThan(40)

  expectNothingLost('spawned, single', await sweep(spawning, isFull ? everywhere : everyNth(everywhere, 9)))
  const twice = (_: unknown, index: number) => [1 + ((index * 7) % everywhere.length), 1 + ((index * 11) % 25)]
  expectNothingLost('spawned, double', await sweep(spawning, Array.from({ length: isFull ? 200 : 4 }, twice)))
  for (const [index, how] of (['close', 'term'] as const).entries())
    expectNothingLost(`spawned, ${how}`, await sweep(spawning, isFull ? everywhere : everyNth(everywhere, 24, 1 + index * 5), how))
}, 600_000)

function wrongIn(outcome: Outcome, events: readonly InteractionEvent[]): readonly string[] {
  return [...wrongEnd(outcome), ...wrongChildren(events), ...wrongInputs(events), ...wrongTotals(outcome, events)]
}

/** Both reports are in the answer, each once: by a wait or as a message, never by both. */
const wrongEnd = ({ status, message, report }: Outcome): readonly string[] =>
  status === 'completed' && report?.text === 'Reports: one, two.' ? [] : [`ended ${status}: ${message ?? report?.text}`]

const of = <Type extends InteractionEvent['type']>(events: readonly InteractionEvent[], type: Type) =>
  events.filter((event) => event.type === type) as unknown as readonly InteractionEvent<Type>[]

/** Each turn of each child is announced once and reported once; both children are closed once. */
function wrongChildren(events: readonly InteractionEvent[]): readonly string[] {
  const turns = (found: readonly { readonly agent: string; readonly turn?: number }[]) =>
    found
      .map(({ agent, turn }) => `${agent} ${turn}`)
      .toSorted()
      .join()
  const started = turns(of(events, 'interaction.subagent.started'))
  const completed = turns(of(events, 'interaction.subagent.completed'))
  const failed = turns(of(events, 'interaction.subagent.failed'))
  const closed = of(events, 'interaction.subagent.closed').map(({ agent }) => agent)
  const created = of(events, 'interaction.session.created').map(({ agentPath }) => agentPath)
  return [
    ...(started === 'idler 1,scout 1,scout 2' ? [] : [`started ${started}`]),
    ...(completed === 'scout 1,scout 2' ? [] : [`completed ${completed}`]),
    ...(failed === 'idler 1' ? [] : [`failed ${failed}`]),
    ...(closed.toSorted().join() === 'idler,scout' ? [] : [`closed ${closed.join()}`]),
    ...(created.toSorted().join() === 'root,root/idler#1,root/scout#1' ? [] : [`sessions ${created.join()}`]),
  ]
}

function wrongInputs(events: readonly InteractionEvent[]): readonly string[] {
  const texts = of(events, 'interaction.input.accepted').map(
    ({ agentPath, parts: [part] }) => `${agentPath} ${part?.type === 'text' && part.text}`,
  )
  const right = ['root Do the work.', 'root/idler#1 wait', 'root/scout#1 one', 'root/scout#1 two']
  return texts.toSorted().join() === right.join() ? [] : [`inputs ${texts.join()}`]
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
