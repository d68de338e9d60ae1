import { expect, it } from 'vitest'
import type { InteractionEvent, Tool, TreeId } from '../../src/contracts/index.ts'
import { foldTree } from '../../src/runtime/journal/tree-state.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate } from '../../src/testing/index.ts'
import { resultsOf, team } from '../subagents/team.ts'

// An output that ends the turn of its agent.

const submit: Tool = {
  name: 'submit',
  description: 'Submits the result.',
  inputSchema: { type: 'object', properties: { result: { type: 'string' } } },
  effect: 'idempotent',
  concurrency: 'shared',
  execute: ({ result }) => ({ ok: true, content: `submitted ${result}`, endsTurn: true }),
}
const note: Tool = { ...submit, name: 'note', execute: async () => 'noted' }
const refuse: Tool = {
  ...submit,
  name: 'refuse',
  execute: () => ({ ok: false, error: { class: 'failed', message: 'no' }, endsTurn: true }) as never,
}

const callsOf = (...tools: readonly string[]) => ({ calls: tools.map((tool) => ({ tool, input: { result: 'it' } })) })

it('is the report, without another request, after all calls of its step', async () => {
  let requests = 0
  const { run, runtime } = team(
    {
      solo: {
        tools: ['*'],
        script: (request) => {
          requests++
          return resultsOf(request).length === 0
            ? { text: 'Working.', ...callsOf('submit', 'note') }
            : { text: `then: ${resultsOf(request).join()}` }
        },
      },
    },
    { tools: [submit, note] },
  )
  const { outcome, events } = await run()
  expect(outcome).toMatchObject({ status: 'completed', report: { text: 'submitted it' } })
  expect(requests).toBe(1)
  const ended = events.flatMap((event) => (event.type === 'interaction.item.completed' && event.item.kind === 'call' ? [event.item] : []))
  expect(ended.map(({ endsTurn }) => endsTurn)).toEqual(expect.arrayContaining([true, undefined]))
  // The journal folds to the same end, at any event.
  for (let count = 1; count <= events.length; count++) foldTree(events.slice(0, count))
  // The next turn is an ordinary one.
  await runtime.sessions.send(outcome.sessionId, 'Again')
  expect(await runtime.sessions.outcome(outcome.sessionId)).toMatchObject({ report: { text: 'then: submitted it,noted' } })
})

it('does not count for a failed output', async () => {
  const { run } = team(
    { solo: { tools: ['*'], script: (request) => (resultsOf(request).length === 0 ? callsOf('refuse') : { text: 'I try again.' }) } },
    { tools: [refuse] },
  )
  expect((await run()).outcome.report?.text).toBe('I try again.')
})

it('leaves a steering message for the next turn', async () => {
  const calling = gate()
  const sent = gate()
  const late: Tool = {
    ...submit,
    async execute() {
      calling.open()
      await sent.promise
      return { ok: true, content: 'submitted', endsTurn: true }
    },
  }
  const store = memoryStore()
  const { runtime } = team(
    { solo: { tools: ['*'], script: (request) => (resultsOf(request).length === 0 ? callsOf('submit') : { text: 'Read it.' }) } },
    { tools: [late], store },
  )
  const handle = runtime.stream('Go')
  await calling.promise
  await runtime.sessions.send(handle.sessionId, 'Wait!', { mode: 'steer' })
  sent.open()
  await handle.outcome
  const events: readonly InteractionEvent[] = await store.journal.read(handle.sessionId as string as TreeId, 0)
  const reports = events.flatMap((event) => (event.type === 'interaction.turn.completed' ? [event.report.text] : []))
  expect(reports).toEqual(['submitted', 'Read it.'])
})

it('ends the turn after a restart, too', async () => {
  const store = memoryStore()
  const calling = gate()
  const hanging: Tool = {
    ...submit,
    execute: async () => {
      calling.open()
      return new Promise<never>(() => {})
    },
  }
  const members = {
    solo: {
      tools: ['*'],
      script: (request: Parameters<typeof resultsOf>[0]) =>
        resultsOf(request).length === 0 ? callsOf('submit', 'hang') : { text: 'asked again' },
    },
  }
  const before = team(members, { tools: [submit, { ...hanging, name: 'hang' }], store })
  const handle = before.runtime.stream('Go')
  await calling.promise
  await before.runtime.close()
  const after = team(members, { tools: [submit, { ...note, name: 'hang' }], store })
  expect(await (await after.runtime.open(handle.sessionId)).outcome).toMatchObject({
    status: 'completed',
    report: { text: 'submitted it' },
  })
})
