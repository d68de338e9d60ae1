import { describe, expect, it } from 'vitest'
import { resultsOf, type Said, type Script, team, textOf } from './team.ts'

const many = Object.fromEntries(
  Array.from({ length: 12 }, (_, i) => [
    `agent${i}`,
    {
      description: `Knows about topic${i} and things`,
      script: ((request) => ({ text: `I am ${i}: ${textOf(request)}` })) satisfies Script,
    },
  ]),
)
const boss = (script: Script, childrenOffered?: 'each' | 'directory') =>
  team({ boss: { script, agents: Object.keys(many) }, ...many }, { config: { ...(childrenOffered && { childrenOffered }) } })

describe('many agents', () => {
  it('are offered through a directory, and called through it', async () => {
    let offered: readonly string[] = []
    const { outcome, events } = await boss((request, step) => {
      offered = request.tools.map(({ name }) => name)
      if (step === 1) return { calls: [{ tool: 'find_agents', input: { query: 'topic7' } }] }
      if (step === 2) return { calls: [{ tool: 'delegate_task', input: { agent: 'agent7', prompt: 'Tell me' } }] }
      return { text: resultsOf(request).join('\n---\n') }
    }).run()
    expect(offered).toEqual(['delegate_task', 'find_agents'])
    expect(outcome.report?.text).toBe('- agent7: Knows about topic7 and things (prompt: text)\n---\nI am 7: Tell me')
    expect(events.some(({ agentPath }) => agentPath === 'root/agent7#1')).toBe(true)
  })

  it('are all within reach without a word to look for: beyond ten by their names, and then by one of these', async () => {
    const { outcome } = await boss((request, step) => {
      if (step === 1) return { calls: [{ tool: 'find_agents' }, { tool: 'find_agents', input: { query: 'things' } }] }
      if (step === 2) return { calls: [{ tool: 'find_agents', input: { query: 'agent11' } }] }
      return { text: resultsOf(request).join('\n---\n') }
    }).run()
    const [all, matched, one] = outcome.report?.text.split('\n---\n') ?? []
    for (const list of [all, matched]) {
      expect(list?.split('\n')).toHaveLength(11)
      for (const name of Object.keys(many)) expect(list).toContain(name)
    }
    expect(all).toMatch(/\n… and agent10, agent11\. Search for a name to see its input\.$/)
    expect(one).toBe('- agent11: Knows about topic11 and things (prompt: text)')
  })

  it('are found by their names first, however short these are', async () => {
    const names = ['qa', 'hr', 'db', 'c3', 'ui-kit', 'a', ...Object.keys(many)]
    const short = Object.fromEntries(
      names.map((name) => [name, { description: 'Sits at a desk with the others', script: () => ({ text: '' }) satisfies Said }]),
    )
    const queries = ['qa', 'the HR desk', 'ask db, please', 'agent c3', 'ui kit', 'a desk', 'dbase']
    const script: Script = (request, step) =>
      step === 1
        ? { calls: queries.map((query) => ({ tool: 'find_agents', input: { query } })) }
        : { text: resultsOf(request).join('\n---\n') }
    const { outcome } = await team({ boss: { script, agents: names }, ...short }).run()
    const found = outcome.report?.text.split('\n---\n').map((list) => list.slice(0, list.indexOf(':')))
    expect(found).toEqual(['- qa', '- hr', '- db', '- c3', '- ui-kit', '- a', 'No agent matches. Available'])
  })

  it('that do not exist get the nearest name; one that takes text gets no JSON', async () => {
    const { outcome } = await boss((request, step) => {
      if (step === 1)
        return {
          calls: [
            { tool: 'delegate_task', input: { agent: 'agnt3', prompt: 'x' } },
            { tool: 'delegate_task', input: { agent: 'agent3', input: {} } },
            { tool: 'find_agents', input: { query: 'zebra' } },
          ],
        }
      return { text: resultsOf(request).join('\n') }
    }).run()
    expect(outcome.report?.text).toMatch(/There is no agent "agnt3".*agent3/)
    expect(outcome.report?.text).toContain('agent3 takes text')
    expect(outcome.report?.text).toContain('No agent matches. Available: agent0')
  })

  it('may be forced to be a tool each; and few of them into a directory', async () => {
    let offered: readonly string[] = []
    const look: Script = (request) => {
      offered = request.tools.map(({ name }) => name)
      return { text: 'ok' }
    }
    await boss(look, 'each').run()
    expect(offered).toContain('agent__agent11')
    await team({ boss: { script: look, agents: ['one'] }, one: { script: look } }, { config: { childrenOffered: 'directory' } }).run()
    expect(offered).toEqual(['delegate_task', 'find_agents'])
  })

  it('that take JSON are held to their schema', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
    const { outcome } = await team(
      {
        boss: {
          agents: ['weather'],
          script: (request, step) => {
            if (step === 1) return { calls: [{ tool: 'delegate_task', input: { agent: 'weather', input: {} } }] }
            if (step === 2) return { calls: [{ tool: 'delegate_task', input: { agent: 'weather', input: { city: 'Oslo' } } }] }
            return { text: resultsOf(request).join('\n') }
          },
        },
        weather: { input: { format: 'json', schema }, script: (request) => ({ text: `for ${textOf(request)}` }) },
      },
      { config: { childrenOffered: 'directory' } },
    ).run()
    expect(outcome.report?.text).toMatch(/The input of weather is invalid: missing required "city"[\s\S]*for \{"city":"Oslo"\}/)
  })
})
