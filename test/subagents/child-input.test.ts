import { expect, it } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { gate } from '../../src/testing/index.ts'
import { resultsOf, team, textOf } from './team.ts'

// Messages of a person to one child of a session.

const spawn = (prompt: string) => ({ tool: 'spawn_agent', input: { agent: 'scout', prompt } })

it('reach an idle child, which starts a turn, and a working one, which reads them at its next step', async () => {
  const idle = gate()
  const sent = gate()
  const seen: string[] = []
  const { runtime } = team({
    boss: {
      agents: ['scout'],
      childControl: true,
      script: async (request, step) => {
        if (step === 1) return { calls: [spawn('one')] }
        if (step === 2) return { calls: [{ tool: 'wait_for_agent', input: { ids: ['scout#1'] } }] }
        if (step === 3) {
          idle.open()
          await sent.promise
          return { calls: [{ tool: 'wait_for_agent', input: { ids: ['scout#1'], mode: 'all' } }] }
        }
        return { text: resultsOf(request).at(-1) ?? '' }
      },
    },
    scout: {
      script: (request) => {
        seen.push(textOf(request))
        return { text: `did ${textOf(request)}` }
      },
    },
  })
  const handle = runtime.stream('Go')
  await idle.promise
  await runtime.sessions.send(handle.sessionId, 'two', { to: 'root/scout#1' })
  await runtime.sessions.send(handle.sessionId, 'lost', { to: 'root/nobody#1' })
  sent.open()
  const outcome = await handle.outcome
  expect(seen).toEqual(['one', 'two'])
  expect(outcome).toMatchObject({ status: 'completed', report: { text: '[scout#1: completed]\ndid two' } })
  expect(outcome.diagnostics).toMatchObject([
    { code: 'message_invalid', message: expect.stringContaining('there is no live session "root/nobody#1"; live: root, root/scout#1') },
  ])
  await expect(runtime.sessions.send(handle.sessionId, 'x', { to: '' })).rejects.toThrow(/options.to/)
})

it('continue a session that is suspended because a call waits for the next turn of an idle child', async () => {
  let attempts = 0
  const talk: Tool = {
    name: 'talk',
    description: 'Lets a person talk to a child.',
    inputSchema: { type: 'object' },
    effect: 'idempotent',
    timeoutMs: 86_400_000,
    async execute(_, { children }) {
      attempts++
      const waited = await children?.wait({ ids: ['scout#1'], mode: 'next' })
      return Array.isArray(waited) ? `${waited[0]?.result?.report?.text}` : 'refused'
    },
  }
  const { runtime } = team(
    {
      boss: {
        agents: ['scout'],
        childControl: true,
        tools: ['talk'],
        script: (request, step) =>
          [
            { calls: [spawn('Greet')] },
            { calls: [{ tool: 'wait_for_agent', input: { ids: ['scout#1'] } }] },
            { calls: [{ tool: 'talk' }] },
          ][step - 1] ?? { text: `They said: ${resultsOf(request).at(-1)}` },
      },
      scout: { script: (request) => ({ text: `heard ${textOf(request)}` }) },
    },
    { tools: [talk] },
  )
  const first = await runtime.run('Go')
  expect(first).toMatchObject({ status: 'suspended', reason: 'input' })
  expect(await runtime.sessions.get(first.sessionId)).toMatchObject({ status: 'suspended', openRequests: 0 })
  expect(await runtime.sessions.outcome(first.sessionId)).toMatchObject({ status: 'suspended', reason: 'input' })
  expect(await runtime.sessions.send(first.sessionId, 'my wish', { to: 'root/scout#1' })).toMatchObject({ driven: true })
  expect(await runtime.sessions.outcome(first.sessionId)).toMatchObject({
    status: 'completed',
    report: { text: 'They said: heard my wish' },
  })
  expect(attempts).toBe(2)
})
