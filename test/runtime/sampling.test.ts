import { describe, expect, it } from 'vitest'
import type { SampleRequest, Tool } from '../../src/index.ts'
import { agent, bounded, journalOf, ofType, requestText, resultsIn, storeWith, tool, until } from '../acceptance/support.ts'
import { no, recordsOf, stage, yes } from './approval-stage.ts'

// Requests of tools to a model: a child session of the call without tools.

const user = (text: string): SampleRequest['messages'][number] => ({ role: 'user', parts: [{ type: 'text', text }] })
const request: SampleRequest = { messages: [user('Name a colour')], systemPrompt: 'One word.', maxTokens: 50, from: 'paint' }
const sampling = (requests: readonly SampleRequest[] = [request], more: Partial<Tool> = {}): Tool => ({
  ...tool('mix'),
  execute: async (_, context) => {
    const answers = []
    for (const each of requests) answers.push(await context.sample(each))
    return JSON.stringify(answers)
  },
  ...more,
})
/** One turn to its end. */
async function ran(setup: Parameters<typeof stage>[0]) {
  const made = stage(setup)
  const outcome = await bounded(made.runtime.run('go'))
  return { ...made, outcome, events: await journalOf(made.store, outcome.sessionId) }
}
const mix = { calls: [{ tool: 'mix' }] }
const allow = { approvals: { rules: [{ allow: 'sampling(paint)' }] } }

describe('a request of a tool to a model', () => {
  it('is approved with its text, and answered by a child without tools that the parent pays for', async () => {
    const steps = [mix, { text: 'blue', usage: { input: 10, output: 5 } }, { text: 'Done.' }]
    const made = await ran({ tools: [sampling()], decide: () => yes(), steps })
    expect(made.asked).toMatchObject([
      {
        scope: 'sampling',
        isLive: true,
        tool: 'mix',
        keys: [{ key: 'sampling:paint' }],
        input: { systemPrompt: 'One word.', messages: ['Name a colour'] },
      },
    ])
    expect(made.model.requests[1]).toMatchObject({ system: 'One word.', tools: [], parameters: { maxOutputTokens: 50 } })
    expect(resultsIn(made.model.requests[2])[0]?.content).toContain('"text":"blue"')
    expect(ofType(made.events, 'interaction.subagent.started')).toMatchObject([{ agent: 'sampling', childPath: 'root/sampling#1' }])
    const [, , call] = made.outcome.accounting
    expect(made.outcome.accounting.map(({ agentPath }) => agentPath)).toEqual(['root', 'root/sampling#1', 'root', 'root'])
    expect(call).toMatchObject({ kind: 'call', tool: 'mix' })
    expect(made.outcome.operations?.steps[0]?.calls[0]?.child?.agentPath).toBe('root/sampling#1')
  })

  it('several in one call are several children; a grant for the session covers the second', async () => {
    const two = [request, { ...request, messages: [user('And?'), { role: 'assistant', parts: [{ type: 'text', text: 'blue' }] } as const] }]
    const steps = [mix, { text: 'blue' }, { text: 'red' }, { text: 'Done.' }]
    const made = await ran({ tools: [sampling(two)], decide: () => yes('session'), steps })
    expect(made.asked).toHaveLength(1)
    expect(requestText(made.model.requests[2])).toContain('[assistant]')
    expect(made.outcome.operations?.steps[0]?.calls[0]).toMatchObject({
      earlier: [{ agentPath: 'root/sampling#1' }],
      child: { agentPath: 'root/sampling#2' },
    })
    expect(made.outcome.accounting).toHaveLength(5)
  })

  const refusals: readonly (readonly [string, Parameters<typeof stage>[0] & object, string])[] = [
    ['is denied', { decide: () => no('too expensive') }, 'too expensive'],
    ['nobody is there', { decide: () => 'suspend' }, 'nobody answered'],
    ['there is no approver', {}, 'there is no approver'],
    ['a rule forbids it', { decide: () => yes(), config: { approvals: { rules: [{ deny: 'sampling' }] } } }, 'deny sampling'],
    ['the agent may have no children', { config: allow, limits: { maxChildren: 0 } }, '0 children'],
  ]
  for (const [why, setup, said] of refusals)
    it(`is not sent if ${why}`, async () => {
      const made = await ran({ tools: [sampling()], steps: [mix, { text: 'Done.' }], ...setup })
      expect(resultsIn(made.model.requests[1])[0]?.content).toContain('"ok":false')
      expect(resultsIn(made.model.requests[1])[0]?.content).toContain(said)
    })

  it('is cut at maxTokens, and prefers models of the agent that match the hints', async () => {
    const cut = { ...request, modelHints: ['small', 'other'], maxTokens: 3 }
    const steps = [mix, { text: 'a b c', finish: 'length' as const }, { text: 'Done.' }]
    const { model: _, ...clerk } = agent
    const models: string[] = []
    const adapter = {
      resolve: (name: string) => ({
        ...made.model,
        id: name,
        abilities: made.model.abilities,
        stream: (...given: Parameters<typeof made.model.stream>) => {
          models.push(name)
          return made.model.stream(...given)
        },
      }),
    }
    const made = stage({ steps })
    const { runtime } = stage({
      tools: [sampling([cut])],
      adapter,
      config: { ...allow, agents: [{ ...clerk, models: ['large', 'small'] }] },
    })
    expect((await bounded(runtime.run('go'))).status).toBe('completed')
    expect(models).toEqual(['large', 'small', 'large'])
    expect(resultsIn(made.model.requests[2])[0]?.content).toContain('"stopReason":"length"')
  })

  it('is ended with its call, and a crash leaves nothing open', async () => {
    const made = stage({ tools: [sampling()], config: allow, steps: [mix, { text: 'never', wait: new Promise(() => {}) }] })
    const handle = made.runtime.stream('go')
    await until('it is sent', () => made.model.requests.length === 2)
    const store = await storeWith(await journalOf(made.store, handle.sessionId))
    const next = stage({ tools: [sampling()], config: allow, store, steps: [{ text: 'Done.' }] })
    expect((await bounded((await next.runtime.open(handle.sessionId)).outcome)).status).toBe('completed')
    const events = await journalOf(store, handle.sessionId)
    expect(recordsOf(events)).toMatchObject([{ status: 'unknown' }])
    expect(ofType(events, 'interaction.subagent.failed')).toMatchObject([{ agent: 'sampling', status: 'interrupted' }])
    await handle.interrupt()
    expect((await bounded(handle.outcome)).status).toBe('interrupted')
  })
})
