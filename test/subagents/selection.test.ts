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
      outcome: { report: { text: 'cooked' } },
    })
    expect(await selected('odd', { infer: 'model' }, { clerk })).toMatchObject({
      agent: 'clerk',
      reason: 'match: the model named no agent that there is',
    })
  })

  it('is a mistake of the configuration where the wish makes no sense', () => {
    const make = (selection: object) => () => team(members, { config: { agentSelection: selection as never } })
    expect(make({ infer: 'guess' })).toThrow(/agentSelection\.infer: expected match or model/)
    expect(make({ agent: 'cok' })).toThrow(/Did you mean "cook"/)
  })
})
