import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ApprovalRequest, ClientId, InteractionEvent, Outcome, TreeId } from '../../src/contracts/index.ts'
import { judgeWrites } from './judge-writes.ts'
import { everyNth, everyPoint, expectNothingLost, faultless, isFull, pointsOf, type Subject, storeOf, sweep } from './sweep.ts'
import { wrongEnds } from './wrong-ends.ts'

// A session whose client runs some of its tools: the process that drives it is killed, and the client sends the results of what it has
// run, in one step with calls of the agent and an approval. TROUPE_FULL kills at every point, and twice at many; the short form at some.

const tokens = ['e-1', 'e-2', 'b-1', 'b-2', 'f-1', 'w-1', 'w-2', 's-1']
const clients: Subject = { file: 'client-subject.mjs', mostFurtherLives: 8, judge: judgeWrites(tokens, wrongIn), between: runCalls }

it('calls of a client: none is lost or repeated, wherever a process is killed', async () => {
  const [calm] = await sweep(clients, [[]])
  expect(calm?.verdict).toEqual(faultless)
  const lives = pointsOf(calm)
  expect(lives.length).toBeGreaterThan(3)
  const everywhere = everyPoint(lives)
  expect(everywhere.length).toBeGreaterThan(50)

  expectNothingLost('client, single', await sweep(clients, isFull ? everywhere : everyNth(everywhere, 12)))
  const doubles = everyNth(everywhere, isFull ? 2 : 40, 1).map((plan, index) => [...plan, 1 + ((index * 5) % 13)])
  expectNothingLost('client, double', await sweep(clients, doubles))
  for (const [index, how] of (['close', 'term'] as const).entries())
    expectNothingLost(`client, ${how}`, await sweep(clients, isFull ? everywhere : everyNth(everywhere, 32, 3 + index * 9), how))
}, 600_000)

/** The client runs each call that it hears of, once, and sends the result; a person approves. */
async function runCalls(folder: string): Promise<void> {
  const file = join(folder, 'tree')
  if (!existsSync(file)) return
  const treeId = readFileSync(file, 'utf8') as TreeId
  const store = await storeOf(folder)
  try {
    if (treeId === '' || !(await store.trees.get(treeId))) return
    const ran = join(folder, 'ran.log')
    const known = existsSync(ran) ? readFileSync(ran, 'utf8').split('\n') : []
    for (const { id: approvalId, scope, input, tool } of requestsIn(await store.journal.read(treeId, 0))) {
      if (known.includes(approvalId)) continue
      appendFileSync(ran, `${approvalId}\n`)
      if (scope === 'client') appendFileSync(join(folder, 'effects.log'), `${String(input.token)}\n`)
      const decision =
        scope === 'client'
          ? ({ kind: 'result', ok: true, content: `did ${String(input.token)}` } as const)
          : ({ kind: 'approve', breadth: 'once' } as const)
      const changes = input.token === 'b-2' && { changes: { clientTools: [{ name: 'Search', description: tool, inputSchema: {} }] } }
      await store.inbox.add(treeId, approvalId as string as ClientId, { kind: 'approval', approvalId, decision, by: 'client', ...changes })
    }
  } finally {
    await store.close()
  }
}

const requestsIn = (events: readonly InteractionEvent[]): readonly ApprovalRequest[] =>
  events.flatMap((event) => (event.type === 'interaction.approval.requested' ? [event.request] : []))

function wrongIn({ status, report, message }: Outcome, events: readonly InteractionEvent[]): readonly string[] {
  const asked = requestsIn(events).flatMap(({ scope, input }) => (scope === 'client' ? [String(input.token)] : []))
  const results = events.flatMap((event) =>
    event.type === 'interaction.item.completed' && event.item.kind === 'call' ? [`${event.item.status} ${event.item.content}`] : [],
  )
  const wanted = ['e-1', 'e-2', 'b-1', 'b-2', 'f-1']
  return [
    ...(status === 'completed' && report?.text === 'All done with Search, send_one, write_one.'
      ? []
      : [`ended ${status}: ${message ?? report?.text}`]),
    ...(asked.toSorted().join() === wanted.toSorted().join() ? [] : [`the client was asked for ${asked.join()}`]),
    ...wanted.filter((token) => !results.includes(`completed did ${token}`)).map((token) => `no result of ${token}`),
    ...wrongEnds(events),
  ]
}
