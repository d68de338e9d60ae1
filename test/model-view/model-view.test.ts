import { describe, expect, it } from 'vitest'
import type { Approver, Hook, TreeId } from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { FakeClock, gate, ScriptedModel, type ScriptedStepSource } from '../../src/testing/index.ts'
import { expectSame, rebuilt } from '../fixtures/rebuilt-requests.ts'
import { runtimeWith, tool } from '../runtime/helpers.ts'
import { storeOf, toldFirst } from '../runtime/journals.ts'
import { asksForSummary, handlesIn, windowed } from '../runtime/windows.ts'
import { settle } from '../settle.ts'
import { place, skill } from '../skills/place.ts'
import { renderRequests } from './render-request.ts'

// Each page is what a model is shown in one turn. Whoever changes one on purpose looks at the difference, and writes it
// anew with `vitest run test/model-view -u`.

type Setup = Parameters<typeof runtimeWith>[1]

async function requestsOf(steps: readonly ScriptedStepSource[], setup: Setup = {}, model = new ScriptedModel(steps)) {
  const clock = new FakeClock()
  const runtime = runtimeWith(model, { tools: [look, save], ...setup, clock })
  const { sessionId } = await settle(runtime.run('What is in the box?'), clock)
  expectSame(await rebuilt(runtime, sessionId), model.requests)
  return model.requests
}

/** For tools that read files or are loaded when they are called: the clock stands still, so that none of them is late. */
async function unhurriedRequestsOf(steps: readonly ScriptedStepSource[], setup: Setup) {
  const model = new ScriptedModel(steps)
  const runtime = runtimeWith(model, { ...setup, clock: new FakeClock() })
  const { sessionId } = await runtime.run('What is in the box?')
  expectSame(await rebuilt(runtime, sessionId), model.requests)
  return model.requests
}

const look = tool('look', { effect: 'read', concurrency: 'shared', execute: ({ q }) => `There is ink in the ${String(q)}.` })
const save = tool('save', { instructions: 'Save what is worth it.', execute: ({ q }) => `Saved ${String(q)}.` })
const asks = (name: string, q: string) => ({ tool: name, input: { q, reason: 'To know' } })

describe('what a model sees', () => {
  const page = async (name: string, requests: Parameters<typeof renderRequests>[0]) =>
    expect(renderRequests(requests, name[0]?.toUpperCase() + name.slice(1).replaceAll('-', ' '))).toMatchFileSnapshot(`./${name}.md`)

  it('in a plain turn with tools', async () => {
    await page('plain-turn', await requestsOf([{ text: 'Let me see.', calls: [asks('look', 'box')] }, { text: 'Ink.' }]))
  })

  it('when one of two calls fails', async () => {
    const broken = tool('look', {
      effect: 'read',
      execute: () => ({ ok: false, error: { class: 'failed', message: 'The lid is stuck.', remedy: 'Use force.' } }),
    })
    const steps = [
      { calls: [asks('look', 'box'), asks('save', 'ink'), asks('lok', 'lid'), { tool: 'save', input: { q: 7 } }] },
      { text: 'Stuck.' },
    ]
    await page('parallel-calls', await requestsOf(steps, { tools: [broken, save] }))
  })

  it('when a person declines a call', async () => {
    const approver: Approver = { decide: () => ({ decision: { kind: 'deny', feedback: 'Not the ink' }, by: 'Ada' }) }
    const gated = { ...save, approval: () => ({ keys: [{ key: 'save', label: 'Save' }], summary: 'Save the ink' }) }
    await page(
      'approval-declined',
      await requestsOf([{ calls: [asks('save', 'ink')] }, { text: 'Then not.' }], { tools: [gated], approver }),
    )
  })

  it('when a person steers', async () => {
    const entered = gate()
    const held = gate()
    const slow = tool('look', {
      effect: 'read',
      execute: async () => {
        entered.open()
        await held.promise
        return 'Ink.'
      },
    })
    const model = new ScriptedModel([{ calls: [asks('look', 'box')] }, { text: 'Only the lid, then.' }])
    const clock = new FakeClock()
    const runtime = runtimeWith(model, { tools: [slow], clock })
    const handle = runtime.stream('What is in the box?')
    await entered.promise
    await handle.steer('Only look at the lid.')
    held.open()
    const { sessionId } = await settle(handle.outcome, clock)
    expectSame(await rebuilt(runtime, sessionId), model.requests)
    await page('steering', model.requests)
  })

  it('in a last step that it is made to take', async () => {
    await page('last-step', await requestsOf([{ calls: [asks('look', 'box')] }, { text: 'Ink.' }], { limits: { maxToolTurns: 1 } }))
  })

  it('when its answer is not the JSON that was asked for', async () => {
    const schema = { type: 'object', properties: { ink: { type: 'boolean' } }, required: ['ink'], additionalProperties: false }
    const output = { format: 'json', schema } as const
    const agents = [{ name: 'clerk', description: 'Looks', prompt: 'You are a clerk.', model: 'any', output }]
    await page('json-repair', await requestsOf([{ text: 'Ink: {"ink": "maybe"}' }, { text: '{"ink":true}' }], { config: { agents } }))
  })

  it('as the child of another', async () => {
    const digger = {
      name: 'digger',
      description: 'Digs things up',
      prompt: 'You dig.',
      model: 'any',
      tools: ['look'],
      usage: 'what to dig for',
    }
    const clerk = { name: 'clerk', description: 'Asks', prompt: 'You are a clerk.', model: 'any', tools: [], agents: ['digger'] }
    const config = { agents: [clerk, digger], agentSelection: { agent: 'clerk' } }
    const steps = [
      { calls: [{ tool: 'agent__digger', input: { prompt: 'Dig for ink.', reason: 'It is buried' } }] },
      { text: 'Found ink.' },
      { text: 'Ink.' },
    ]
    await page('child', await requestsOf(steps, { config }))
  })

  it('of the rules of a project', async () => {
    const clock = new FakeClock()
    const store = memoryStore()
    const { sessionId: treeId } = await settle(
      runtimeWith(new ScriptedModel([{ text: 'x' }]), { store, clock }).run('What is in the box?'),
      clock,
    )
    const told = await storeOf(toldFirst(await store.journal.read(treeId, 0), 'AGENTS.md', '# Rules\n\nOpen boxes from the left.'))
    const model = new ScriptedModel([{ text: 'Ink, from the left.' }])
    const handle = await runtimeWith(model, { tools: [look], store: told, clock }).open(treeId as TreeId)
    await settle(handle.outcome, clock)
    await page('project-rules', model.requests)
  })

  it('of what hooks add, refuse and want', async () => {
    let answers = 0
    const hook: Hook = {
      name: 'judge',
      onFailure: 'closed',
      beforeCall: ({ tool: name }) => (name === 'save' ? { kind: 'block', reason: 'Nothing is saved on Sundays.' } : { kind: 'continue' }),
      afterCall: () => ({ kind: 'context', text: 'The ink is two years old.' }),
      beforeRequest: ({ size }) => (size < 1_500 && answers === 0 ? { kind: 'context', text: 'It is Sunday.' } : { kind: 'continue' }),
      atStop: () => (answers++ === 0 ? { kind: 'resume', reason: 'Say which colour.' } : { kind: 'continue' }),
    }
    const steps = [{ calls: [asks('look', 'box'), asks('save', 'ink')] }, { text: 'Ink.' }, { text: 'Blue ink.' }]
    await page('hooks', await requestsOf(steps, { hooks: [hook] }))
  })

  it('of its skills, listed and loaded', async () => {
    const here = place({
      'project/.agents/skills/seal/SKILL.md': skill('seal', 'How letters are sealed. Load it before you seal one.'),
      'project/.agents/skills/seal/colours.md': 'Red for friends, black for the court.',
      'project/.agents/skills/ink/SKILL.md': skill('ink', 'How ink is made.'),
    })
    const { skills } = here.find()
    const agents = [{ name: 'clerk', description: 'Seals', prompt: 'You are a clerk.', model: 'any', tools: [], skills: ['ink', 'seal'] }]
    const load = (input: object) => ({ calls: [{ tool: 'load_skill', input: { ...input, reason: 'To seal it' } }] })
    const steps = [load({ name: 'seal' }), load({ name: 'seal', file: 'colours.md' }), load({ name: 'sael' }), { text: 'Sealed in red.' }]
    const requests = await unhurriedRequestsOf(steps, { config: { agents, skills } })
    await page('skills', JSON.parse(JSON.stringify(requests).replaceAll(here.path, '/home/ada')))
  })

  it('of an output that is too long to be shown', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `${index + 1}: ${'-'.repeat(60)}${index === 29 ? ' ink' : ''}`)
    const inventory = tool('look', { effect: 'read', execute: () => lines.join('\n') })
    const reads: ScriptedStepSource = (request) => {
      const handle = handlesIn(JSON.stringify(request.messages).replaceAll('\\"', '"'))[0]
      return { calls: [{ tool: 'read_output', input: { handle, search: 'ink', reason: 'To find it' } }] }
    }
    const steps = [{ calls: [asks('look', 'box')] }, reads, { text: 'Ink, in line 30.' }]
    await page('cut-output', await unhurriedRequestsOf(steps, { tools: [inventory], limits: { maxOutputBytes: 1_000 } }))
  })

  it('when the sandbox blocks a call, and a person denies or approves running it outside', async () => {
    const blocked = tool('look', {
      execute: ({ q }, { confinement }) =>
        confinement.kind === 'none'
          ? `There is ink in the ${String(q)}.`
          : { ok: false, error: { class: 'sandbox', message: 'There is no network inside.' }, partial: `Looking for the ${String(q)}` },
    })
    const approver: Approver = {
      decide: ({ input }) => ({
        decision: input.q === 'box' ? { kind: 'deny', feedback: 'Stay inside' } : { kind: 'approve', breadth: 'once' },
        by: 'Ada',
      }),
    }
    const setup = { tools: [blocked], approver, sandbox: { confinement: { kind: 'sandbox', name: 'box' } } } as const
    const steps = [{ calls: [asks('look', 'box')] }, { calls: [asks('look', 'chest')] }, { text: 'Ink.' }]
    await page('wall-hit', await requestsOf(steps, setup))
  })

  it('when it makes the same call over and over', async () => {
    const again = { calls: [asks('look', 'box')] }
    await page('repeated-call', await requestsOf([again, again, again, again, again, { text: 'Ink.' }]))
  })

  it('before and after its history is made shorter', async () => {
    const far = tool('look', { effect: 'read', execute: ({ q }) => `Room ${String(q)}: ${'x'.repeat(2_600)}` })
    const plan = tool('update_plan', {
      effect: 'read',
      execute: (_, { updatePlan }) => {
        updatePlan({
          steps: [
            { step: 'Save the ink', status: 'completed' },
            { step: 'Look at all rooms', status: 'in_progress' },
          ],
        })
        return 'Planned.'
      },
    })
    let done = 0
    const work = [
      { calls: [asks('update_plan', 'all')] },
      { calls: [asks('save', 'ink')] },
      ...[1, 2, 3, 4, 5].map((room) => ({ calls: [asks('look', `${room}`)] })),
    ]
    const step: ScriptedStepSource = (request) =>
      asksForSummary(request) ? { text: 'Rooms 1 to 4 have only dust. Room 5 is next.' } : (work[done++] ?? { text: 'Only dust.' })
    const requests = await requestsOf(
      [],
      { tools: [far, save, plan] },
      windowed(
        4_000,
        Array.from({ length: 12 }, () => step),
      ),
    )
    const from = requests.findIndex(asksForSummary)
    await page('compaction', requests.slice(from - 1, from + 2))
  })
})
