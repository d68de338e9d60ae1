import { describe, expect, it } from 'vitest'
import { type Script, team, textOf } from './team.ts'

const says =
  (text: string): Script =>
  () => ({ text })
const members = {
  cook: { description: 'Finds recipes for dinner', script: says('cooked') },
  clerk: { description: 'Files tax returns and invoices', script: says('filed') },
  pilot: { description: 'Plans flights', script: says('flown'), infer: false },
}
const selected = async (input: string, selection: object | undefined, more: Partial<typeof members> = {}) => {
  const { events, outcome } = await team({ ...members, ...more }, { config: { agentSelection: selection as never } }).run(input)
  const event = events.find((each) => each.type === 'interaction.subagent.selected')
  return { ...(event?.type === 'interaction.subagent.selected' && event), outcome }
}

describe('which agent speaks', () => {
  it('is the one that is named', async () => {
    expect(await selected('dinner', { agent: 'clerk' })).toMatchObject({
      agent: 'clerk',
      reason: 'explicit',
      outcome: { report: { text: 'filed' } },
    })
  })

  it('is otherwise the one whose name and description share most words with the request', async () => {
    expect(await selected('A recipe for dinner, please: recipes with rice', undefined)).toMatchObject({
      agent: 'cook',
      reason: 'match',
      scores: { cook: 2, clerk: 0 },
      outcome: { report: { text: 'cooked' } },
    })
    expect(await selected('Where do I send my tax returns?', { infer: 'match' })).toMatchObject({ agent: 'clerk' })
  })

  it('is of equals the first by name, and never one that may not be chosen', async () => {
    expect(await selected('flights', { infer: 'match' })).toMatchObject({ agent: 'clerk', scores: { clerk: 0, cook: 0 } })
    expect((await selected('flights', { infer: 'match' })).scores).not.toHaveProperty('pilot')
  })

  it('goes by the stems of words, and by the name and the usage of an agent beside its description', async () => {
    const more = { pilot: { ...members.pilot, description: 'Answers', usage: 'Rebook the connection to Oslo', infer: true } }
    for (const [input, agent, score] of [
      ['Which recipe is good with rice?', 'cook', 1],
      ['I am filing an invoice', 'clerk', 2],
      ['Help with rebooking my connections', 'pilot', 2],
      // The name is a word of the request, and named.
      ['Ask the pilot', 'pilot', 2],
    ] as const)
      expect(await selected(input, { infer: 'match' }, more), input).toMatchObject({ agent, reason: 'match', scores: { [agent]: score } })
  })

  it('is the first by name where no agent shares a word with the request, and a diagnostic says so', async () => {
    const { outcome, ...event } = await selected('flights', { infer: 'match' })
    expect(event).toMatchObject({ agent: 'clerk', reason: 'default: no agent matches the request', scores: { clerk: 0, cook: 0 } })
    expect(outcome.diagnostics).toEqual([
      {
        code: 'agent_unmatched',
        severity: 'warning',
        message: 'No agent shares a word with the request. "clerk" answers: it is the first by name of clerk, cook.',
        remedy: expect.stringContaining("infer: 'model'"),
      },
    ])
    expect((await selected('a recipe', { infer: 'match' })).outcome.diagnostics).toEqual([])
  })

  it('is never a child in place of its boss, whatever words the request has', async () => {
    const office = {
      boss: { description: 'Answers', agents: ['cook', 'clerk'], script: says('answered') },
      cook: members.cook,
      clerk: members.clerk,
    }
    const chosen = async (selection: object | undefined, more: object = {}, input = 'Recipes for dinner') => {
      const { events, outcome } = await team({ ...office, ...more }, { config: { agentSelection: selection as never } }).run(input)
      const event = events.find((each) => each.type === 'interaction.subagent.selected')
      if (event?.type !== 'interaction.subagent.selected') throw new Error('nobody was chosen')
      return { agent: event.agent, reason: event.reason, scores: event.scores, status: outcome.status }
    }
    const boss = { agent: 'boss', reason: 'only', scores: {}, status: 'completed' }
    for (const selection of [undefined, { infer: 'match' }, { infer: 'model' }]) expect(await chosen(selection)).toEqual(boss)
    expect(await chosen({ agent: 'cook' })).toMatchObject({ agent: 'cook', reason: 'explicit' })
    // Whom nobody calls is chosen from as before.
    expect(await chosen(undefined, { pilot: { ...members.pilot, infer: true } }, 'Flights')).toMatchObject({
      agent: 'pilot',
      reason: 'match',
      scores: { boss: 0, pilot: 1 },
    })
    // A child that says so may be chosen, and so may children where nobody else may.
    expect(await chosen(undefined, { cook: { ...members.cook, infer: true } })).toMatchObject({
      agent: 'cook',
      scores: { boss: 0, cook: 2 },
    })
    expect(await chosen({ infer: 'match' }, { boss: { ...office.boss, infer: false } })).toMatchObject({
      agent: 'cook',
      scores: { clerk: 0, cook: 2 },
    })
  })

  it('is what a model says, in one recorded question', async () => {
    const chooser: Script = (request) =>
      request.system.startsWith('Choose')
        ? { text: `{"agent":"${textOf(request) === 'odd' ? 'nobody at all' : 'cook'}"}` }
        : { text: 'filed' }
    const clerk = { ...members.clerk, script: chooser }
    expect(await selected('Something', { infer: 'model' }, { clerk })).toMatchObject({
      agent: 'cook',
      reason: 'model',
      asked: { model: 'team/clerk', cost: 0 },
      outcome: { report: { text: 'cooked' }, diagnostics: [] },
    })
    expect(await selected('odd', { infer: 'model' }, { clerk })).toMatchObject({
      agent: 'clerk',
      reason: 'default: the model named no known agent',
      outcome: { diagnostics: [{ code: 'agent_unmatched' }] },
    })
  })

  it('is a mistake of the configuration where the wish makes no sense', () => {
    const make = (selection: object) => () => team(members, { config: { agentSelection: selection as never } })
    expect(make({ infer: 'guess' })).toThrow(/agentSelection\.infer: expected one of match, model/)
    expect(make({ agent: 'cok' })).toThrow(/Did you mean "cook"/)
  })
})
