import { describe, expect, it } from 'vitest'
import type { ChildResult, Tool, ToolContext } from '../../src/contracts/index.ts'
import { foldTree } from '../../src/runtime/tree-state.ts'
import { resultsOf, type Script, team } from './team.ts'

const task = (text: string) => ({ agent: 'kid', input: [{ type: 'text', text }] as const })
const toolOf = (execute: Tool['execute']): Tool => ({
  name: 'own',
  description: 'Starts children.',
  inputSchema: { type: 'object' },
  execute,
})
const boss: Script = (request, step) => (step === 1 ? { calls: [{ tool: 'own' }] } : { text: resultsOf(request).join() })
const kid: Script = () => ({ text: 'ok', usage: { input: 100, output: 50 } })
const run = (execute: Tool['execute'], script: Script = kid) =>
  team({ boss: { script: boss, agents: ['kid'], tools: ['own'] }, kid: { script } }, { tools: [toolOf(execute)] }).run()
const said = (result: ChildResult) => (result.kind === 'refused' ? result.failure.message : result.status)

describe('a tool that starts children itself', () => {
  it('starts one a call; the journal stays sound, and what the child took is counted', async () => {
    const { outcome, events } = await run(async (_, { startChild }) => {
      const results = await Promise.all([startChild(task('a')), startChild(task('b')), startChild(task('c'))])
      return [...results.map(said), said(await startChild(task('d')))].join('; ')
    })
    expect(outcome.report?.text).toBe('completed; A call starts one child.; A call starts one child.; A call starts one child.')
    expect(events.filter(({ type }) => type === 'interaction.session.created')).toHaveLength(2)
    expect(foldTree(events).children.size).toBe(1)
    expect(outcome.usage.input).toBeGreaterThanOrEqual(100)
  })

  it.each(['at once', 'later'])('and answers %s without waiting ends it first', async (when) => {
    const { outcome, events } = await run(
      (_, { startChild }) => {
        void startChild(task('a'))
        return when === 'at once' ? 'gone on' : Promise.resolve().then(() => 'gone on')
      },
      () => new Promise<never>(() => {}),
    )
    expect(outcome).toMatchObject({ status: 'completed', report: { text: 'gone on' } })
    const ended = events.findIndex((event) => event.type === 'interaction.turn.interrupted')
    const recorded = events.findIndex((event) => event.type === 'interaction.item.completed' && event.item.kind === 'call')
    // One that was not even begun is not begun any more.
    const isBegun = events.some((event) => event.type === 'interaction.session.created' && event.parent)
    expect(isBegun).toBe(when === 'later')
    expect(ended > 0).toBe(isBegun)
    expect(recorded).toBeGreaterThan(ended)
  })

  it('cannot start one once its call has ended', async () => {
    let kept: ToolContext | undefined
    const { outcome, events } = await run((_, context) => {
      kept = context
      return 'done'
    })
    expect(outcome.status).toBe('completed')
    expect(said((await kept?.startChild(task('late'))) ?? { kind: 'refused', failure: { class: 'failed', message: 'nothing' } })).toMatch(
      /has ended/,
    )
    expect(events.filter(({ type }) => type === 'interaction.session.created')).toHaveLength(1)
  })
})

describe('a budget that a child uses up', () => {
  it('leaves the parent its last answer', async () => {
    const { outcome } = await team({
      boss: {
        agents: ['kid'],
        limits: { maxTokens: 6_000 },
        script: (request) =>
          request.toolChoice === 'none'
            ? { text: 'In short: done.' }
            : { calls: [{ tool: 'agent__kid', input: { prompt: `more ${request.messages.length}` } }] },
      },
      kid: {
        script: (request) =>
          request.toolChoice === 'none'
            ? { text: 'x'.repeat(400) }
            : { text: 'x'.repeat(9_000), calls: [{ tool: 'nothing', input: { n: request.messages.length } }] },
      },
    }).run()
    expect(outcome).toMatchObject({ status: 'partial', report: { text: 'In short: done.' } })
    expect(outcome.usage.input + outcome.usage.output).toBeLessThanOrEqual(6_000)
  })
})
