import { describe, expect, it } from 'vitest'
import type { ApprovalDecision, Tool } from '../../src/contracts/index.ts'
import { bounded, finish, journalOf, objectSchema, resultsIn, storeWith, tool, until } from '../acceptance/support.ts'
import { callsOf, no, play, recordsOf, stage, yes } from './approval-stage.ts'

const answer = (text: string) => ({ kind: 'answer', text }) satisfies ApprovalDecision
/** Like `ask_user`: what a person says is what it returns. */
const asking = (more: Partial<Tool> = {}): Tool => ({
  ...tool('ask', { schema: objectSchema({ question: { type: 'string' } }), effect: 'read' }),
  approval: ({ question }) => ({ summary: `${question}`, keys: [], question: { text: `${question}`, options: ['red', 'blue'] } }),
  execute: (_, context) => ('answer' in context ? `They say: ${context.answer}` : 'Nobody said anything.'),
  ...more,
})
const ask = (question = 'Which colour?') => ({ tool: 'ask', input: { question } })
const tools = [asking()]

describe('a question to a person', () => {
  it('shows text and options, offers nothing to grant, and its answer reaches the tool and the model', async () => {
    const made = await play([ask()], { tools, decide: () => answer('blue') })
    expect(made.asked[0]).toMatchObject({
      scope: 'question',
      summary: 'Which colour?',
      question: { text: 'Which colour?', options: ['red', 'blue'] },
    })
    expect(made.asked[0]).not.toHaveProperty('wider')
    expect(made.told[0]).toMatchObject({ ok: true, content: 'They say: blue' })
    expect(callsOf(made.events)[0]).toMatchObject({ answer: 'blue', approved: { by: 'ann' } })
  })

  it('takes another answer than its options, also an empty one', async () => {
    expect((await play([ask()], { tools, decide: () => answer('green') })).told[0]?.content).toBe('They say: green')
    expect((await play([ask()], { tools, decide: () => answer('') })).told[0]?.content).toBe('They say: ')
  })

  it('is put again each time: neither rule nor grant answers it', async () => {
    const made = await play([ask(), ask()], {
      tools,
      decide: (_, n) => answer(`${n}`),
      config: { approvals: { rules: [{ allow: '*' }] } },
      grants: { list: () => [{ key: 'tool:ask', label: 'ask' }], add: async () => {} },
    })
    expect(made.told.map(({ content }) => content)).toEqual(['They say: 1', 'They say: 2'])
  })

  it('may be forbidden by a rule', async () => {
    const made = await play([ask()], { tools, decide: () => answer('x'), config: { approvals: { rules: [{ deny: 'ask' }] } } })
    expect(made.asked).toEqual([])
    expect(made.told[0]?.content).toContain('A rule forbids')
  })

  it('that is declined is not run, and the model reads why', async () => {
    const made = await play([ask()], { tools, decide: () => no('Decide yourself') })
    expect(made.told[0]).toMatchObject({ ok: false, content: expect.stringContaining('Decide yourself') })
    expect(recordsOf(made.events)[0]?.status).toBe('declined')
  })

  it('fails without an approver, with the reason', async () => {
    const made = await play([ask()], { tools })
    expect(made.told[0]).toMatchObject({ ok: false, content: expect.stringContaining('there is no approver') })
  })

  it('is not answered by an approval: the approver has failed', async () => {
    const made = await play([ask()], { tools, decide: () => yes() })
    expect(made.told[0]?.content).toContain('it approves, but an answer was expected')
  })

  it('nor by a caller: that is refused, and the question stays open', async () => {
    const made = stage({ tools, decide: () => 'wait', steps: [{ calls: [ask()] }, { text: 'Done.' }] })
    const handle = made.runtime.stream('go')
    await until('it is asked', () => made.asked.length === 1)
    const refused = handle.approve(made.asked[0]!.id, yes())
    await expect(refused).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('an answer was expected') })
    await handle.approve(made.asked[0]!.id, answer('red'))
    expect((await finish(handle)).diagnostics).toEqual([])
    expect(resultsIn(made.model.requests[1])[0]?.content).toBe('They say: red')
  })

  it('an answer that holds a secret is redacted in the journal, for the tool and for the model', async () => {
    const secret = 'ghp_0123456789abcdef'
    const made = await play([ask(`Is it ${secret}?`)], {
      tools: [asking({ approval: () => ({ summary: secret, keys: [], question: { text: secret, options: [secret] } }) })],
      decide: () => answer(`It is ${secret}.`),
      config: { overlay: { GITHUB_TOKEN: secret } },
    })
    expect(made.told[0]?.content).toBe('They say: It is [redacted:GITHUB_TOKEN].')
    expect(made.asked[0]?.question).toEqual({ text: '[redacted:GITHUB_TOKEN]', options: ['[redacted:GITHUB_TOKEN]'] })
    const said = made.events.filter(({ type }) => type === 'interaction.approval.resolved' || type === 'interaction.item.completed')
    expect(JSON.stringify(said)).not.toContain(secret)
  })

  it('survives a crash between answer and call, and between intent and result', async () => {
    const whole = await play([ask()], { tools, decide: () => answer('blue') })
    const at = (type: string) => whole.events.findIndex((event) => event.type === type) + 1
    for (const length of [at('interaction.approval.resolved'), at('interaction.item.started')]) {
      const made = stage({ tools, decide: () => no(), store: await storeWith(whole.events.slice(0, length)), steps: [{ text: 'Done.' }] })
      const outcome = await bounded((await made.runtime.open(whole.outcome.sessionId)).outcome)
      expect(outcome.status).toBe('completed')
      expect(made.asked).toEqual([])
      expect(resultsIn(made.model.requests[0])[0]?.content).toBe('They say: blue')
    }
  })

  it('is left alone when the turn is interrupted meanwhile, and a late answer changes nothing', async () => {
    const made = stage({ tools, decide: () => 'wait', steps: [{ calls: [ask()] }] })
    const handle = made.runtime.stream('go')
    await until('it is asked', () => made.asked.length === 1)
    await handle.interrupt()
    expect((await finish(handle)).status).toBe('interrupted')
    const late = made.runtime.sessions.approve(handle.sessionId, { approvalId: made.asked[0]!.id, decision: answer('red') })
    await expect(late).rejects.toMatchObject({ code: 'approval_unknown' })
    expect(recordsOf(await journalOf(made.store, handle.sessionId))).toMatchObject([{ status: 'skipped' }])
  })

  const odd: { [what: string]: unknown } = {
    'options that are no list': { text: 'x', options: 'red' },
    'options that are no texts': { text: 'x', options: [Object.create(null)] },
  }
  for (const [what, question] of Object.entries(odd))
    it(`with ${what} is asked without them`, async () => {
      const strange = asking({ approval: () => ({ summary: 's', keys: [], question: question as never }) })
      const made = await play([ask()], { tools: [strange], decide: () => answer('red') })
      expect(made.asked[0]?.question).toEqual({ text: 'x' })
      expect(made.told[0]?.content).toBe('They say: red')
    })

  it('without a text is no question: the call is asked about as a whole', async () => {
    const strange = asking({ approval: () => ({ summary: 's', keys: [], question: { text: 7 } as never }) })
    const made = await play([ask()], { tools: [strange], decide: () => yes() })
    expect(made.asked[0]).toMatchObject({ scope: 'call', summary: 'Call ask' })
    expect(made.told[0]?.content).toBe('Nobody said anything.')
  })
})
