import { describe, expect, it } from 'vitest'
import type {
  ApprovalDecision,
  ApprovalKey,
  ApprovalRequest,
  Hook,
  JsonObject,
  ProjectGrants,
  Tool,
  TreeId,
} from '../../src/contracts/index.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import { gate, sequentialIds } from '../../src/testing/index.ts'
import { approverOf, bounded, elapsing, journalOf, ofType, type Setup, tool, until } from '../acceptance/support.ts'
import { ask, type Script, team } from '../subagents/team.ts'
import { callsOf, no, play, run, shell, stage, yes } from './approval-stage.ts'

const key = (text: string, isPrefix = false): ApprovalKey => ({ key: text, label: text, ...(isPrefix && { isPrefix }) })
/** A project that remembers what it is given. */
function project(keys: ApprovalKey[] = [], more: Partial<ProjectGrants> = {}) {
  const added: { readonly keys: readonly ApprovalKey[]; readonly by: string }[] = []
  const grants: ProjectGrants = {
    list: () => keys,
    add: async (given, by) => {
      added.push({ keys: given, by })
      keys.push(...given)
    },
    ...more,
  }
  return { grants, added }
}
const asked = (requests: readonly ApprovalRequest[]) => requests.map(({ input }) => input.command)
const commands = [run('git status'), run('git log'), run('gitx'), run('git'), run('ls')]

describe('what was granted', () => {
  it('as it was asked covers the same again and nothing else', async () => {
    const made = await play([run('git log'), run('git log'), run('git log -1')], { decide: () => yes('session') })
    expect(asked(made.asked)).toEqual(['git log', 'git log -1'])
    expect(callsOf(made.events).map(({ approved }) => approved?.by)).toEqual(['ann', 'granted for this session', 'ann'])
    expect(made.outcome.snapshot.approvalKeys).toEqual([
      { key: 'command:git log', label: 'git log' },
      { key: 'command:git log -1', label: 'git log -1' },
    ])
  })

  it('more broadly covers what begins like it: `git ` is neither `gitx` nor `git`', async () => {
    const made = await play(commands, { decide: ({ wider = [] }, n) => (n === 1 ? yes('session', wider[0]?.key) : no()) })
    expect(made.asked[0]?.wider).toEqual([
      { key: 'command:git ', label: 'any such command', isPrefix: true },
      { key: 'tool:shell', label: 'any call of shell' },
    ])
    expect(asked(made.asked)).toEqual(['git status', 'gitx', 'git', 'ls'])
    expect(made.outcome.snapshot.approvalKeys).toEqual([{ key: 'command:git ', label: 'any such command', isPrefix: true }])
  })

  it('for the tool covers all of it, and no other', async () => {
    const other = tool('other', { approval: () => ({ summary: 'Other', keys: [key('other')] }) })
    const ran: JsonObject[] = []
    const made = await play([run('git log'), run('make'), { tool: 'other' }], {
      tools: [shell(ran), other],
      decide: ({ tool: name }) => yes('session', `tool:${name}`),
    })
    expect(made.asked.map(({ tool: name }) => name)).toEqual(['shell', 'other'])
    expect(ran).toHaveLength(2)
  })

  it('once is for this call, whatever key was picked', async () => {
    const made = await play([run('git log'), run('git log')], { decide: () => yes('once', 'command:git ') })
    expect(made.asked).toHaveLength(2)
    expect(made.outcome.snapshot.approvalKeys).toEqual([])
  })

  it('in parts covers a call only where each part is granted, wherever', async () => {
    const { grants } = project([key('command:make')])
    const made = await play([run('git log'), run('git log && make'), run('git log && make && ls')], {
      grants,
      decide: () => yes('session'),
    })
    expect(asked(made.asked)).toEqual(['git log', 'git log && make && ls'])
    expect(callsOf(made.events)[1]?.approved).toEqual({ by: 'granted before' })
  })

  it('also covers waiting calls, so that nobody else is asked', async () => {
    const decide = (_: ApprovalRequest, n: number) => (n === 1 ? 'wait' : yes('session', 'tool:shell'))
    const made = await play([[run('git log'), run('make')]], { decide })
    expect(asked(made.asked)).toEqual(['git log', 'make'])
    expect(ofType(made.events, 'interaction.approval.resolved').map(({ by }) => by)).toEqual(['ann', 'granted for this session'])
    expect(made.ran).toHaveLength(2)
  })

  it('covers nothing that it does not name', async () => {
    const decide = ({ input }: ApprovalRequest, n: number) => (n === 1 ? 'suspend' : yes('session', `command:${input.command} `))
    const made = await play([[run('make'), run('git')]], { decide })
    expect(made.outcome.status).toBe('suspended')
    expect(ofType(made.events, 'interaction.approval.resolved')).toHaveLength(1)
  })

  it('is no match for a rule that forbids it', async () => {
    const { grants } = project([key('tool:shell')])
    const made = await play([run('rm x'), run('ls')], { grants, config: { approvals: { rules: [{ deny: 'shell(rm *)' }] } } })
    expect(made.told.map(({ ok }) => ok)).toEqual([false, true])
    const later = stage({ decide: () => yes('session', 'tool:shell'), steps: [{ calls: [run('rm x')] }, { text: 'Done.' }] })
    const { sessionId: treeId } = await later.runtime.run('go')
    await later.runtime.close()
    const ruled = stage({
      store: later.store,
      steps: [{ calls: [run('rm x')] }, { text: 'Done.' }],
      config: { approvals: { rules: [{ deny: 'shell(rm *)' }] } },
    })
    await again(ruled, treeId)
    expect([later.ran.length, ruled.ran.length]).toEqual([1, 0])
  })
})

/** A further turn of a tree, to its end. */
async function again({ runtime, store }: Pick<ReturnType<typeof stage>, 'runtime' | 'store'>, treeId: TreeId): Promise<void> {
  const turns = async () => (await journalOf(store, treeId)).filter(({ type }) => /turn\.(completed|failed|interrupted)$/.test(type)).length
  const before = await turns()
  await (await runtime.open(treeId)).send('again')
  await until('a further turn', async () => (await turns()) > before)
}

describe('for the project', () => {
  it('goes to the port with who granted it, and holds for another session', async () => {
    const { grants, added } = project()
    const one = await play([run('git log')], { grants, decide: () => yes('project', 'command:git ') })
    expect(added).toEqual([{ keys: [{ key: 'command:git ', label: 'any such command', isPrefix: true }], by: 'ann' }])
    expect(one.outcome.diagnostics).toEqual([])
    const two = await play([run('git status')], { grants, decide: () => no() })
    expect([two.asked.length, two.ran.length]).toEqual([0, 1])
    expect(callsOf(two.events)[0]?.approved).toEqual({ by: 'granted for the project' })
  })

  it('goes there as well where the answer comes by the inbox', async () => {
    const { grants, added } = project()
    const made = stage({ grants, decide: () => 'suspend', steps: [{ calls: [run('ls')] }, { text: 'Done.' }] })
    const { sessionId: treeId } = await made.runtime.run('go')
    const [event] = ofType(await journalOf(made.store, treeId), 'interaction.approval.requested')
    await made.runtime.sessions.approve(treeId, { approvalId: event!.request.id, decision: yes('project'), by: 'bob' })
    await until('the end', async () => (await made.runtime.sessions.outcome(treeId)).status === 'completed')
    expect(added).toEqual([{ keys: [{ key: 'command:ls', label: 'ls' }], by: 'bob' }])
  })

  it('is there before the call runs', async () => {
    const order: string[] = []
    const slow = gate()
    const { grants } = project([], { add: () => slow.promise.then(() => void order.push('kept')) })
    const ran = shell([], { execute: () => `ran ${order.push('ran')}` })
    const decide = () => {
      setImmediate(slow.open)
      return yes('project')
    }
    await play([run('ls'), run('ls')], { grants, tools: [ran], decide })
    expect(order).toEqual(['kept', 'ran', 'ran'])
  })

  it('is there before the answer is on record, wherever that comes from', async () => {
    const store = memoryStore()
    const seen: number[] = []
    const { grants } = project([], {
      add: async () => {
        const [tree] = await store.trees.list()
        seen.push(ofType(await journalOf(store, tree!.treeId), 'interaction.approval.resolved').length)
      },
    })
    const steps = [{ calls: [run('ls')] }, { text: 'Done.' }]
    const made = stage({ store, grants, decide: () => 'suspend', steps })
    const { sessionId: treeId } = await made.runtime.run('go')
    const [request] = await made.runtime.sessions.requests(treeId)
    await made.runtime.sessions.approve(treeId, { approvalId: request!.id, decision: yes('project'), by: 'bob' })
    expect((await bounded(made.runtime.sessions.outcome(treeId))).status).toBe('completed')
    await play([run('date')], {
      store: memoryStore(),
      grants: { ...grants, add: async () => void seen.push(-1) },
      decide: () => yes('project'),
    })
    expect(seen).toEqual([0, -1])
  })

  it('never blocks a call for ever, nor an interrupt', async () => {
    const { grants } = project([], { add: () => new Promise(() => {}) })
    const steps = [{ calls: [run('ls')] }, { text: 'Done.' }]
    const patient = stage({ grants, decide: () => yes('project'), steps })
    const outcome = await elapsing(patient.clock, patient.runtime.run('go'), [10_000, 100])
    expect(patient.ran).toHaveLength(1)
    expect(outcome.diagnostics).toMatchObject([{ code: 'grant_not_kept' }])

    const cut = stage({ grants, decide: () => yes('project'), steps })
    const handle = cut.runtime.stream('go')
    await until('the yes', async () => ofType(await journalOf(cut.store, handle.sessionId), 'interaction.approval.requested').length > 0)
    await handle.interrupt()
    expect(await bounded(handle.outcome, 'the interrupt')).toMatchObject({ status: 'interrupted' })
    expect(cut.ran).toEqual([])
  })

  const failing: { [what: string]: Partial<ProjectGrants> | undefined } = {
    'rejects with what it knows': { add: () => Promise.reject(new Error('disk full')) },
    'throws at once': {
      add: () => {
        throw new Error('disk full')
      },
    },
    'is not there': undefined,
  }
  for (const [what, port] of Object.entries(failing))
    it(`applies to the session if the port ${what}, and that is reported`, async () => {
      const grants = port && project([], port).grants
      const setup: Setup = grants ? { grants } : {}
      const made = await play([run('ls'), run('ls')], { ...setup, decide: () => yes('project') })
      expect([made.asked.length, made.ran.length]).toEqual([1, 2])
      const [diagnostic] = made.outcome.diagnostics
      expect(made.outcome.diagnostics).toHaveLength(1)
      expect(diagnostic).toMatchObject({ code: 'grant_not_kept', severity: 'warning' })
      expect(diagnostic?.message).toContain(port ? 'disk full' : 'there is no project')
    })

  it('cannot be remembered for a call that names nothing', async () => {
    const { grants, added } = project()
    const nameless = tool('nameless', { approval: () => ({ summary: 'Do it', keys: [] }) })
    const made = await play([{ tool: 'nameless' }], { tools: [nameless], grants, decide: () => yes('project') })
    expect(added).toEqual([])
    expect(made.outcome.diagnostics).toMatchObject([{ code: 'grant_not_kept' }])
  })

  it('grants nothing if the list is damaged: the person is asked, and informed once', async () => {
    const lists: { [what: string]: () => unknown } = {
      throws: () => {
        throw new Error('grants.json is damaged')
      },
      'is no list': () => 'tool:shell',
      'holds nonsense': () => [null, 7, { key: '', label: '', isPrefix: true }, { key: 'tool:shell' }],
    }
    for (const [what, list] of Object.entries(lists)) {
      const { grants } = project([], { list: list as ProjectGrants['list'] })
      const made = await play([run('ls'), run('date')], { grants, decide: () => yes() })
      expect([made.asked.length, made.outcome.status], what).toEqual([2, 'completed'])
      expect(made.outcome.diagnostics, what).toHaveLength(what === 'holds nonsense' ? 0 : 1)
    }
  })
})

describe('a decision that does not fit what was asked', () => {
  const wrong: { [what: string]: unknown } = {
    'a key that was not offered': yes('session', 'tool:other'),
    'a key of the call itself, as if it were a broader one': yes('session', 'command:ls'),
    'a breadth that there is not': { kind: 'approve', breadth: 'world' },
    'an answer where a yes is wanted': { kind: 'answer', text: 'yes' },
    'a key that is no text': { kind: 'approve', breadth: 'session', key: { startsWith: true } },
    'feedback that is no text': { kind: 'deny', feedback: { toString: 'x' } },
  }
  for (const [what, decision] of Object.entries(wrong))
    it(`${what}: an approver that gives it has not said yes`, async () => {
      const made = await play([run('ls')], { decide: () => decision as ApprovalDecision })
      expect(made.ran).toEqual([])
      expect(made.told[0]?.content).toContain('the approver failed')
      expect(made.outcome.snapshot.approvalKeys).toEqual([])
    })

  for (const [what, decision] of Object.entries(wrong).slice(0, 4))
    it(`${what}: through the inbox it is reported, and the request stays open`, async () => {
      const made = stage({ decide: () => 'suspend', steps: [{ calls: [run('ls')] }, { text: 'Done.' }] })
      const { sessionId: treeId } = await made.runtime.run('go')
      const [event] = ofType(await journalOf(made.store, treeId), 'interaction.approval.requested')
      const approvalId = event!.request.id
      // Not through the service, which refuses what is no decision at all.
      await made.store.inbox.add(treeId, 'c1' as never, { kind: 'approval', approvalId, decision: decision as never, by: 'bob' })
      expect((await bounded((await made.runtime.open(treeId)).outcome)).status).toBe('suspended')
      expect(ofType(await journalOf(made.store, treeId), 'interaction.diagnostic')).toMatchObject([
        { diagnostic: { code: 'message_invalid' } },
      ])
      await made.runtime.sessions.approve(treeId, { approvalId, decision: yes() })
      await until('the end', async () => (await made.runtime.sessions.outcome(treeId)).status === 'completed')
      expect(made.ran).toHaveLength(1)
    })

  it('what is beside a decision is not put on record', async () => {
    const odd = { kind: 'approve', breadth: 'session', size: 7n, say: () => 'hello', text: 'x' } as unknown as ApprovalDecision
    const made = await play([run('ls')], { decide: () => odd })
    expect(ofType(made.events, 'interaction.approval.resolved')[0]?.decision).toEqual({ kind: 'approve', breadth: 'session' })
    expect(made.outcome.status).toBe('completed')
  })

  it('a decision without a person is invalid', async () => {
    const nameless = { decide: () => ({ decision: yes(), by: undefined as never }) }
    const made = await play([run('ls')], { approver: nameless })
    expect(made.ran).toEqual([])
    const later = stage({ decide: () => 'suspend', steps: [{ calls: [run('ls')] }] })
    const { sessionId: treeId } = await later.runtime.run('go')
    const [event] = ofType(await journalOf(later.store, treeId), 'interaction.approval.requested')
    const message = { kind: 'approval', approvalId: event!.request.id, decision: yes(), by: undefined as never } as const
    await later.store.inbox.add(treeId, 'c1' as never, message)
    expect((await bounded((await later.runtime.open(treeId)).outcome)).status).toBe('suspended')
    expect(later.ran).toEqual([])
  })

  it('an approver cannot offer itself a key by changing the request', async () => {
    const sly = approverOf((request) => {
      try {
        ;(request.wider as ApprovalKey[]).push(key('tool:other'))
        ;(request.keys as ApprovalKey[]).push(key('tool:other'))
      } catch {
        // Frozen is as good.
      }
      return { ...yes('session'), by: 'sly' }
    })
    const made = await play([run('ls')], { approver: sly })
    expect(made.outcome.snapshot.approvalKeys).toEqual([{ key: 'command:ls', label: 'ls' }])
  })
})

describe('a tool cannot ask for what is not its own', () => {
  const display: { [what: string]: { readonly keys: readonly ApprovalKey[]; readonly wider?: readonly ApprovalKey[] } } = {
    'another tool': { keys: [key('tool:other')] },
    'all tools': { keys: [key('k')], wider: [key('tool:', true)] },
    'everything that begins like one letter': { keys: [key('k')], wider: [key('t', true)] },
    'leaving the sandbox': { keys: [key('k')], wider: [key('unsandboxed:shell:', true)] },
    'all that begins like itself': { keys: [key('tool:odd', true)] },
  }
  for (const [what, wish] of Object.entries(display))
    it(`${what}: it is asked about as a whole`, async () => {
      const odd = tool('odd', { approval: () => ({ summary: 'Harmless', ...wish }) })
      const made = await play([{ tool: 'odd' }], { tools: [odd], decide: () => no() })
      expect(made.asked).toMatchObject([{ summary: 'Call odd', keys: [{ key: 'tool:odd', label: 'any call of odd' }] }])
      expect(made.asked[0]).not.toHaveProperty('wider')
    })

  const nonsense: { [what: string]: Tool['approval'] } = {
    'says null': () => null as never,
    'says false': () => false as never,
    'has a summary that throws': () => ({
      keys: [],
      get summary(): string {
        throw new Error('no')
      },
    }),
    'changes while it is looked at': () => {
      let looks = 0
      return {
        summary: 's',
        keys: [],
        wider: [
          {
            label: 'harmless',
            get key() {
              return looks++ === 0 ? 'tool:other' : 'k'
            },
          },
        ],
      }
    },
    'has a key without letters': () => ({ summary: 's', keys: [key('')] }),
  }
  for (const [what, approval] of Object.entries(nonsense))
    it(`one that ${what} is asked about as a whole`, async () => {
      const made = await play([{ tool: 'odd' }], { tools: [tool('odd', { approval: approval as never })], decide: () => yes() })
      expect(made.asked).toMatchObject([{ summary: 'Call odd', keys: [{ key: 'tool:odd' }] }])
      expect(made.outcome.status).toBe('completed')
    })

  it('one that never says is asked about as a whole after a minute', async () => {
    const stuck = tool('odd', { approval: () => new Promise(() => {}) })
    const made = stage({ tools: [stuck], decide: () => yes(), steps: [{ calls: [{ tool: 'odd' }] }, { text: 'Done.' }] })
    const running = made.runtime.run('go')
    await until('it is asked', () => made.model.requests.length === 1)
    await made.clock.elapse(59_000)
    expect(made.asked).toEqual([])
    await made.clock.elapse(2_000)
    expect((await bounded(running)).status).toBe('completed')
    expect(made.asked).toMatchObject([{ keys: [{ key: 'tool:odd' }] }])
  })
})

describe('grants over time', () => {
  const once = { calls: [run('ls')] }
  it('survive a new driver, and are void under another policy: rules, hooks or sandbox', async () => {
    const hook: Hook = { name: 'guard', onFailure: 'closed', atStop: () => ({ kind: 'continue' }) }
    const policies: { [what: string]: Setup } = {
      same: {},
      rules: { config: { approvals: { rules: [{ ask: 'web_fetch' }] } } },
      hooks: { hooks: [hook] },
      sandbox: { sandbox: { confinement: { kind: 'sandbox', name: 'box' } } },
    }
    for (const [what, policy] of Object.entries(policies)) {
      const one = stage({ decide: () => yes('session'), steps: [once, { text: 'Done.' }] })
      const { sessionId: treeId } = await one.runtime.run('go')
      await one.runtime.close()
      const two = stage({ ...policy, store: one.store, decide: () => no(), steps: [once, { text: 'Done.' }] })
      await again(two, treeId)
      expect([two.asked.length, two.ran.length], what).toEqual(what === 'same' ? [0, 1] : [1, 0])
      const revoked = ofType(await journalOf(one.store, treeId), 'interaction.approval.revoked')
      expect(revoked, what).toHaveLength(what === 'same' ? 0 : 1)
    }
  })

  it('of a child are void under another policy, too', async () => {
    const store = memoryStore()
    const requests: string[] = []
    const say =
      (name: string): Script =>
      (_, step) =>
        step === 1 ? { calls: [ask(name, 'go')] } : { text: 'Done.' }
    const sends: Script = (_, step) => {
      const calls = ['send', 'other', 'send'].map((name, n) => ({ tool: name, input: { n } }))
      return calls[step - 1] ? { calls: [calls[step - 1]!] } : { text: 'clerked' }
    }
    const tools = ['send', 'other'].map((name): Tool => ({ ...tool(name), approval: () => ({ summary: name, keys: [key(name)] }) }))
    const approver = approverOf((request) => {
      requests.push(request.tool)
      return request.tool === 'send' ? { ...yes('session'), by: 'ann' } : 'suspend'
    })
    const tree = (config: Setup['config'], ids: string) =>
      team(
        { boss: { agents: ['clerk'], script: say('clerk') }, clerk: { tools: ['send', 'other'], script: sends } },
        { store, approver, tools, ids: sequentialIds(ids), ...(config && { config }) },
      ).runtime
    const one = tree(undefined, 'one')
    const { sessionId: treeId } = await bounded(one.run('go'))
    await one.close()
    const two = tree({ approvals: { rules: [{ ask: 'web_fetch' }] } }, 'two')
    const open = ofType(await journalOf(store, treeId), 'interaction.approval.requested').at(-1)!
    await two.sessions.approve(treeId, { approvalId: open.request.id, decision: yes() })
    expect((await bounded((await two.open(treeId)).outcome)).status).toBe('completed')
    expect(requests.filter((name) => name === 'send')).toHaveLength(2)
  })

  it('are taken back by key, and asked for again', async () => {
    const made = stage({ decide: () => yes('session'), steps: [once, { text: '1' }, once, { text: '2' }, once, { text: '3' }] })
    const { sessionId: treeId } = await made.runtime.run('go')
    await made.runtime.sessions.revoke(treeId, ['command:other'], 'bob')
    await again(made, treeId)
    expect(made.asked).toHaveLength(1)
    await made.runtime.sessions.revoke(treeId, ['command:ls'], 'bob')
    await again(made, treeId)
    expect(made.asked).toHaveLength(2)
    expect(ofType(await journalOf(made.store, treeId), 'interaction.approval.revoked').at(-1)).toMatchObject({
      keys: ['command:ls'],
      by: 'bob',
    })
  })

  it('a row that names no keys takes nothing back, and does not stop what comes behind it', async () => {
    const made = stage({ decide: () => yes('session'), steps: [once, { text: '1' }, once, { text: '2' }] })
    const { sessionId: treeId } = await made.runtime.run('go')
    for (const [index, keys] of ['the command:ls and more', undefined, [7]].entries())
      await made.store.inbox.add(treeId, `r${index}` as never, { kind: 'revoke', keys: keys as never, by: 'bob' })
    await made.store.inbox.add(treeId, 'nothing' as never, null as never)
    await again(made, treeId)
    expect([made.asked.length, made.ran.length]).toEqual([1, 2])
    expect(ofType(await journalOf(made.store, treeId), 'interaction.diagnostic').map(({ diagnostic }) => diagnostic.code)).toEqual(
      Array.from({ length: 4 }, () => 'message_invalid'),
    )
  })

  it('are a child’s own, and are taken back there while it works', async () => {
    const store = memoryStore()
    const requests: ApprovalRequest[] = []
    const send: Tool = { ...tool('send'), approval: () => ({ summary: 'Send', keys: [key('send')] }) }
    const { runtime } = team(
      {
        boss: { agents: ['clerk'], script: (_, step) => (step === 1 ? { calls: [ask('clerk', 'go')] } : { text: 'Done.' }) },
        clerk: {
          tools: ['send', 'pause'],
          script: (_, step) =>
            ({ 1: { calls: [{ tool: 'send' }] }, 2: { calls: [{ tool: 'pause' }] }, 3: { calls: [{ tool: 'send', input: { n: 2 } }] } })[
              step
            ] ?? { text: 'clerked' },
        },
      },
      {
        store,
        approver: approverOf((request) => {
          requests.push(request)
          return { ...yes('session'), by: 'ann' }
        }),
        tools: [
          send,
          tool('pause', {
            execute: async () => {
              const [tree] = await store.trees.list()
              await runtime.sessions.revoke(tree!.treeId, ['send'], 'bob')
              await until(
                'taken back',
                async () => ofType(await journalOf(store, tree!.treeId), 'interaction.approval.revoked').length === 2,
              )
              return 'paused'
            },
          }),
        ],
      },
    )
    const outcome = await bounded(runtime.run('go'))
    expect(requests).toHaveLength(2)
    expect(
      ofType(await journalOf(store, outcome.sessionId), 'interaction.approval.revoked').map(({ agentPath, keys }) => [agentPath, keys]),
    ).toEqual([
      ['root', ['send']],
      ['root/clerk#1', ['send']],
    ])
  })
})
