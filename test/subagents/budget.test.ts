import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../src/contracts/index.ts'
import { jsonInstruction } from '../../src/contracts/model-texts.ts'
import { overspent } from './overspent.ts'
import { ask, type Member, resultsOf, type Said, type Script, team } from './team.ts'

interface Plan {
  readonly children: readonly Plan[]
  /** What it does at each step before it answers. */
  readonly steps: readonly ('children' | 'twice' | 'nothing' | 'fails')[]
  readonly words: number
  /** What is said of it to whoever may call it. */
  readonly described: number
  readonly answersJson: boolean
  /** Whether its provider says what it has counted. */
  readonly counts: boolean
  readonly maxTokens: number | undefined
  readonly maxCostUsd: number | undefined
  readonly parallelChildren: number
  readonly parallelToolCalls: number
}

const plan: fc.Memo<Plan> = fc.memo((depth) =>
  fc.record({
    children: depth <= 1 ? fc.constant([]) : fc.array(plan(depth - 1), { maxLength: 3 }),
    steps: fc.array(fc.constantFrom('children', 'twice', 'nothing', 'fails'), { maxLength: 4 }),
    words: fc.nat({ max: 3_000 }),
    described: fc.integer({ min: 4, max: 6_000 }),
    answersJson: fc.boolean(),
    counts: fc.boolean(),
    maxTokens: fc.option(fc.integer({ min: 50, max: 30_000 }), { nil: undefined }),
    maxCostUsd: fc.option(
      fc.integer({ min: 1, max: 300 }).map((cents) => cents / 10_000),
      { nil: undefined },
    ),
    parallelChildren: fc.integer({ min: 1, max: 4 }),
    parallelToolCalls: fc.integer({ min: 1, max: 6 }),
  }),
)

const perToken = { input: 1e-6, output: 5e-6 }

/** Talks as long as it is let: what bounds it is what the loop tells the provider. */
function talker(plan: Plan, children: readonly string[]): Script {
  const { steps, words, counts } = plan
  return (request, step) => {
    const said = whatIsSaid(request, step)
    return counts && !said.fails ? { ...said, usage: counted(request, said) } : said
  }
  function whatIsSaid(request: ModelRequest, step: number): Said {
    const most = request.parameters.maxOutputTokens ?? 4_096
    const text = 'word'.repeat(Math.max(1, Math.min(words, most)))
    const doing = request.toolChoice === 'none' ? undefined : steps[step - 1]
    const calls = children.map((child) => ask(child, `step ${step}`))
    const options: { readonly [what: string]: Said } = {
      children: { text: text.slice(0, 40), calls },
      twice: { calls: [...calls, ...calls] },
      nothing: { calls: [{ tool: 'nothing' }] },
      fails: { fails: 'network' },
    }
    const chosen = doing === undefined ? undefined : options[doing]
    return chosen && (chosen.fails || (chosen.calls?.length ?? 0) > 0) ? chosen : { text }
  }
}

/** Everything that is sent, the tools and the wish for JSON with it, at four characters to a token. */
function counted(request: ModelRequest, { text = '', calls = [] }: Said): { readonly input: number; readonly output: number } {
  const { system, tools, messages, output } = request
  const said = messages.flatMap((message): readonly string[] => {
    if (message.role === 'tool') return message.results.map(({ content }) => content)
    if (message.role === 'user') return message.parts.map((part) => (part.type === 'text' ? part.text : ''))
    return message.parts.map((part) => (part.type === 'call' ? part.name + part.input : part.text))
  })
  const sent = [system, JSON.stringify(tools), output ? jsonInstruction(output) : '', ...said].join('')
  return {
    input: Math.ceil((sent.length + 3 * (sent.match(/\p{Script=Han}/gu)?.length ?? 0)) / 4),
    output: Math.ceil(text.length / 4) + calls.length,
  }
}

const outputSchema = {
  type: 'object',
  properties: { found: { type: 'string', description: 'All that was found, with the places where it stands. '.repeat(20) } },
}

function members(root: Plan): Parameters<typeof team>[0] {
  const all: Record<string, Parameters<typeof team>[0][string]> = {}
  const add = (each: Plan, name: string): void => {
    const children = each.children.map((_, i) => `${name}x${i}`)
    const { maxTokens, maxCostUsd, parallelChildren, parallelToolCalls } = each
    const limits = {
      maxRetries: 0,
      parallelChildren,
      parallelToolCalls,
      ...(maxTokens !== undefined && { maxTokens }),
      ...(maxCostUsd !== undefined && { maxCostUsd }),
    }
    // Costs are what the price says of what was used.
    const price = ({ input, output }: { input: number; output: number }) => input * perToken.input + output * perToken.output
    const description = 'word'.repeat(each.described / 4)
    const output = each.answersJson ? ({ format: 'json', schema: outputSchema } as const) : ({ format: 'text' } as const)
    all[name] = { script: talker(each, children), agents: children, limits, price, free: false, description, output }
    for (const [i, child] of each.children.entries()) add(child, `${name}x${i}`)
  }
  add(root, 'a')
  return all
}

describe('the budget of a tree', () => {
  it('is never overspent by any session, whatever runs at once and fails, and every tree ends', async () => {
    let children = 0
    let limited = 0
    await fc.assert(
      fc.asyncProperty(plan(3), async (root) => {
        const { outcome, events } = await team(members(root)).run('Begin')
        expect(['config', 'internal', 'store', 'approval']).not.toContain(outcome.reason)
        expect(overspent(events)).toEqual([])
        children += events.filter(({ type }) => type === 'interaction.subagent.started').length
        limited += outcome.reason === 'tokens' || outcome.reason === 'cost' ? 1 : 0
        const created = events.filter(({ type }) => type === 'interaction.session.created').length
        const ended = events.filter(({ type }) => /^interaction\.turn\.(completed|failed|interrupted)$/.test(type)).length
        expect(ended).toBe(created)
      }),
      { numRuns: process.env.TROUPE_FULL ? 2_000 : 150 },
    )
    // The test would show nothing without children, or without budgets that bite.
    expect(children).toBeGreaterThan(50)
    expect(limited).toBeGreaterThan(5)
  })

  const helper = { script: () => ({ text: 'found' }), description: 'Looks up what there is to know. '.repeat(30) } satisfies Member
  const few = { one: helper, two: helper }
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`helper${i}`, helper]))
  const text = { format: 'text' } as const
  const chinese = '查找所有已知信息并说明出处。'.repeat(100)
  it.each<[what: string, others: Parameters<typeof team>[0], boss: Partial<Member>]>([
    ['agents as tools', few, { output: text }],
    ['the directory of many agents', many, { output: text }],
    ['the wish for JSON and its schema', {}, { output: { format: 'json', schema: outputSchema } }],
    ['the notice to answer now', {}, { output: text, limits: { maxToolTurns: 1 }, tools: ['look'] }],
    ['a prompt in Chinese', {}, { output: text, prompt: chinese }],
    ['the specs of agents in Chinese', { one: { ...helper, description: chinese } }, { output: text }],
    ['a result in Chinese', {}, { output: text, tools: ['read'] }],
    ['how to read a stored output', {}, { output: text, limits: { maxOutputBytes: 2_000, maxToolTurns: 9 }, tools: ['look'] }],
  ])('counts all that is sent before it is sent: %s', async (_, others, more) => {
    const asked: number[] = []
    const boss: Member = {
      ...more,
      agents: Object.keys(others),
      script: (request, step) => {
        const said = step === 1 && request.toolChoice !== 'none' && more.tools?.[0] ? { calls: [{ tool: more.tools[0] }] } : { text: '{}' }
        const usage = counted(request, said)
        asked.push(usage.input)
        return { ...said, usage }
      },
    }
    const look = { name: 'look', description: 'Looks.', inputSchema: { type: 'object' }, execute: () => 'seen '.repeat(1_000) } as const
    const read = { ...look, name: 'read', execute: () => chinese } as const
    const { outcome, events } = await team({ boss, ...others }, { tools: [look, read] }).run()
    expect(['completed', 'partial']).toContain(outcome.status)
    const reserved = events.flatMap((event) => (event.type === 'interaction.step.started' ? [event.reservation.input] : []))
    expect(reserved).toHaveLength(asked.length)
    expect(asked.filter((tokens, i) => tokens > (reserved[i] ?? 0))).toEqual([])
  })

  it('takes what was sent for used, not what was held back, where a provider does not count', async () => {
    let sent = 0
    const script: Script = (request) => {
      sent = counted(request, {}).input
      return { text: 'Done.' }
    }
    const { outcome } = await team({ boss: { agents: Object.keys(few), output: text, script }, ...few }).run()
    expect(outcome.usage).toMatchObject({ estimated: true })
    expect(Math.abs(outcome.usage.input - sent)).toBeLessThan(25)
  })

  it('starts nothing that the specs of its children alone would overspend', async () => {
    const { outcome, events } = await team({
      boss: { agents: Object.keys(few), limits: { maxTokens: 400 }, script: () => ({ text: 'Done.' }) },
      ...few,
    }).run()
    expect(outcome).toMatchObject({ reason: 'tokens', usage: { input: 0 } })
    expect(events.map(({ type }) => type)).not.toContain('interaction.step.started')
  })

  it('counts what children took against the parent, and makes it answer when it is used up', async () => {
    const { outcome } = await team({
      boss: {
        agents: ['scout'],
        limits: { maxTokens: 6_000 },
        script: (request, step) => (request.toolChoice === 'none' ? { text: `after ${step}` } : { calls: [ask('scout', `more ${step}`)] }),
      },
      scout: { script: () => ({ text: 'found', usage: { input: 900, output: 100 } }) },
    }).run()
    expect(outcome).toMatchObject({ status: 'partial', reason: 'tokens' })
    expect(outcome.usage.input + outcome.usage.output).toBeLessThanOrEqual(6_000)
    expect(outcome.usage.input).toBeGreaterThan(900)
  })

  it('of money refuses a model without a price, unless it is allowed by name', async () => {
    const members = { boss: { limits: { maxCostUsd: 1 }, script: (() => ({ text: 'Done.' })) satisfies Script } }
    expect((await team(members).run()).outcome).toMatchObject({
      status: 'failed',
      reason: 'config',
      message: 'A cost budget is set, but boss has no price.',
    })
    expect((await team(members, { config: { unpriced: ['boss'] } }).run()).outcome.status).toBe('completed')
  })

  it('of money informs a parent that a child cannot be paid for', async () => {
    const price = ({ input, output }: { input: number; output: number }) => input * perToken.input + output * perToken.output
    const { outcome } = await team({
      boss: {
        agents: ['scout'],
        limits: { maxCostUsd: 1 },
        price,
        script: (request, step) => (step === 1 ? { calls: [ask('scout', 'x')] } : { text: resultsOf(request).join() }),
      },
      scout: { script: () => ({ text: 'found' }) },
    }).run()
    expect(outcome.report?.text).toMatch(/Error \(config\).*scout has no price/)
  })
})
