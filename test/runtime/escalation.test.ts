import { describe, expect, it } from 'vitest'
import type { ApprovalKey, ApprovalRule, Confinement, JsonObject, SandboxPolicy, Tool } from '../../src/contracts/index.ts'
import { defaultSandboxPolicy } from '../../src/contracts/index.ts'
import { confinementOf, restrictPolicy } from '../../src/steps/approval/agent-confinement.ts'
import { memoryStore } from '../../src/stores/memory/index.ts'
import {
  agent,
  bounded,
  finish,
  journalOf,
  objectSchema,
  ofType,
  resultsIn,
  type Setup,
  storeWith,
  tool,
  troupeError,
  until,
  world,
} from '../acceptance/support.ts'
import { no, type Played, play, stage, yes } from './approval-stage.ts'

const box = { confinement: { kind: 'sandbox', name: 'box' } } as const
/** Needs the network: the sandbox blocks it. */
const blocked = (log: string[], more: Partial<Tool> = {}): Tool => ({
  ...tool('shell', { schema: objectSchema({ command: { type: 'string' } }) }),
  execute: ({ command }, { confinement, attempt }) => {
    log.push(`${command} ${confinement.kind} ${attempt}`)
    return confinement.kind === 'none' ? 'reached it' : { ok: false, error: { class: 'sandbox', message: 'no network inside' } }
  },
  ...more,
})
const curl = (command = 'curl') => ({ tool: 'shell', input: { command } })
const rules = (...given: readonly ApprovalRule[]) => ({ approvals: { rules: given } })

async function walk(commands: readonly string[], setup: Parameters<typeof stage>[0] = {}): Promise<Played & { readonly log: string[] }> {
  const log: string[] = []
  return { ...(await play(commands.map(curl), { sandbox: box, tools: [blocked(log)], ...setup })), log }
}

describe('a call that the sandbox blocks', () => {
  it('asks for itself and offers the tool; what is granted more broadly holds for the next one', async () => {
    const { asked, log, told, outcome } = await walk(['curl a', 'curl b'], { decide: ({ wider = [] }) => yes('session', wider[0]?.key) })
    expect(asked).toEqual([
      expect.objectContaining({
        scope: 'unsandboxed',
        input: { command: 'curl a' },
        keys: [{ key: 'unsandboxed:shell:{"command":"curl a"}', label: 'shell with these arguments, outside the sandbox' }],
        wider: [{ key: 'unsandboxed:shell:', label: 'any call of shell, outside the sandbox', isPrefix: true }],
      }),
    ])
    expect(log).toEqual(['curl a sandbox 1', 'curl a none 2', 'curl b sandbox 1', 'curl b none 2'])
    expect(told.map(({ ok }) => ok)).toEqual([true, true])
    const calls = outcome.accounting.filter((entry) => entry.kind === 'call')
    expect(calls.map(({ unsandboxed }) => unsandboxed)).toEqual([true, true])
  })

  it('a narrow grant is for these arguments alone, and for no other tool', async () => {
    const log: string[] = []
    const other = { ...blocked(log), name: 'shell_two' }
    const { asked } = await play([curl('a'), curl('b'), { tool: 'shell_two', input: { command: 'a' } }], {
      sandbox: box,
      tools: [blocked(log), other],
      decide: (_, n) => (n === 1 ? yes('session', 'unsandboxed:shell:') : no()),
    })
    expect(asked.map(({ tool: name, input }) => `${name} ${input.command}`)).toEqual(['shell a', 'shell_two a'])
    const narrow = await walk(['a', 'b', 'a'], { decide: () => yes('session') })
    expect(narrow.asked.map(({ input }) => input.command)).toEqual(['a', 'b'])
  })

  it('a grant for the tool is none for leaving the sandbox', async () => {
    const grants: ApprovalKey[] = [{ key: 'tool:shell', label: 'shell' }]
    const { asked } = await walk(['a'], { grants: { list: () => grants, add: async () => {} }, decide: () => no() })
    expect(asked).toHaveLength(1)
  })

  it('stays inside where that is declined, or nobody is there', async () => {
    const people: { [what: string]: Parameters<typeof stage>[0] } = { declined: { decide: () => no('Too dangerous') }, nobody: {} }
    for (const [what, setup] of Object.entries(people)) {
      const { log, told, outcome } = await walk(['a'], setup)
      expect(log, what).toEqual(['a sandbox 1'])
      expect(told[0]?.content, what).toContain('no network inside')
      expect(told[0]?.content, what).toContain(what === 'declined' ? 'outside the sandbox: Too dangerous' : 'no approver')
      expect(outcome.status, what).toBe('completed')
    }
  })

  describe('and whom nobody answers now', () => {
    const three = { calls: ['one', 'two', 'three'].map(curl) }
    /** Only the second command needs the network. Each waits for the one before it. */
    const picky = (log: string[]): Tool => {
      const { execute } = blocked(log)
      const needs = ({ command }: JsonObject) => command === 'two'
      return blocked(log, {
        concurrency: 'exclusive',
        execute: (input, context) => (needs(input) ? execute(input, context) : `ran ${log.push(String(input.command))}`),
      })
    }
    const putOff = async (log: string[]) => {
      const store = memoryStore()
      const made = stage({ sandbox: box, tools: [picky(log)], store, decide: () => 'suspend', steps: [three, { text: 'Done.' }] })
      const { sessionId: treeId, status, diagnostics } = await bounded(made.runtime.run('go'))
      expect([status, diagnostics, log]).toEqual(['suspended', [], ['one', 'two sandbox 1']])
      const [request] = ofType(await journalOf(store, treeId), 'interaction.approval.requested').map((event) => event.request)
      expect(request).toMatchObject({ scope: 'unsandboxed', inside: { error: { class: 'sandbox', message: 'no network inside' } } })
      // Another process, which has nothing but the journal.
      const next = stage({ sandbox: box, tools: [picky(log)], store, decide: () => 'suspend', steps: [{ text: 'Done.' }] })
      return { treeId, next, approvalId: request!.id }
    }

    it('runs outside after approval, once, and later calls after it', async () => {
      const log: string[] = []
      const { treeId, next, approvalId } = await putOff(log)
      await next.runtime.sessions.approve(treeId, { approvalId, decision: yes(), by: 'bob' })
      const outcome = await bounded((await next.runtime.open(treeId)).outcome)
      expect([outcome.status, outcome.diagnostics]).toEqual(['completed', []])
      expect(log).toEqual(['one', 'two sandbox 1', 'two none 2', 'three'])
      expect(resultsIn(next.model.requests[0]!).map(({ content }) => content)).toEqual(['ran 1', 'reached it', 'ran 4'])
    })

    it('gets the result from inside, and the reason, if a person denies it', async () => {
      const log: string[] = []
      const { treeId, next, approvalId } = await putOff(log)
      await next.runtime.sessions.approve(treeId, { approvalId, decision: no('Use the mirror'), by: 'bob' })
      expect((await bounded((await next.runtime.open(treeId)).outcome)).status).toBe('completed')
      expect(log).toEqual(['one', 'two sandbox 1', 'three'])
      const [, refused] = resultsIn(next.model.requests[0]!)
      expect(refused?.ok).toBe(false)
      expect(refused?.content).toMatch(/no network inside[\s\S]*outside the sandbox: Use the mirror/)
    })

    it('is held against rules that have come since', async () => {
      const log: string[] = []
      const { treeId, next, approvalId } = await putOff(log)
      const strict = stage({
        ...{ sandbox: box, tools: [picky(log)], store: next.store, decide: () => 'suspend' as const, steps: [{ text: 'Done.' }] },
        config: rules({ deny: 'unsandboxed' }),
      })
      await strict.runtime.sessions.approve(treeId, { approvalId, decision: yes(), by: 'bob' })
      expect((await bounded((await strict.runtime.open(treeId)).outcome)).status).toBe('completed')
      expect(log).toEqual(['one', 'two sandbox 1', 'three'])
    })

    it('is held against rules about the call itself, and so are those behind it', async () => {
      const log: string[] = []
      const { treeId, next, approvalId } = await putOff(log)
      const strict = stage({
        ...{ sandbox: box, tools: [picky(log)], store: next.store, decide: () => 'suspend' as const, steps: [{ text: 'Done.' }] },
        config: rules({ deny: 'shell', reason: 'Not any more' }),
      })
      await strict.runtime.sessions.approve(treeId, { approvalId, decision: yes(), by: 'bob' })
      expect((await bounded((await strict.runtime.open(treeId)).outcome)).status).toBe('completed')
      expect(log).toEqual(['one', 'two sandbox 1'])
      const [, two, three] = resultsIn(strict.model.requests[0]!)
      for (const told of [two, three]) expect([told?.ok, told?.content]).toEqual([false, expect.stringContaining('Not any more')])
    })

    it('and nobody behind it runs once the run is ended at the question', async () => {
      const log: string[] = []
      const { treeId, next, approvalId } = await putOff(log)
      await next.runtime.sessions.approve(treeId, { approvalId, decision: { kind: 'abort' }, by: 'bob' })
      const outcome = await bounded((await next.runtime.open(treeId)).outcome)
      expect([outcome.status, outcome.reason]).toEqual(['interrupted', 'denied'])
      expect(log).toEqual(['one', 'two sandbox 1'])
    })

    it('ends with the turn', async () => {
      const log: string[] = []
      const { treeId, next } = await putOff(log)
      const handle = await next.runtime.open(treeId)
      await handle.interrupt()
      expect((await bounded(handle.outcome)).status).toBe('interrupted')
      expect(log).toEqual(['one', 'two sandbox 1'])
    })
  })

  it('abort ends the turn', async () => {
    const { outcome, log } = await walk(['a'], { decide: () => ({ kind: 'abort' }) })
    expect([outcome.status, outcome.reason, log.length]).toEqual(['interrupted', 'denied', 1])
  })

  it('waits as long as a person thinks, and hears the answer from anywhere', async () => {
    const log: string[] = []
    const made = stage({
      sandbox: box,
      tools: [blocked(log)],
      decide: () => 'wait',
      limits: { timeBudget: 10_000, toolTimeout: 1_000 },
      steps: [{ calls: [curl()] }, { text: 'Done.' }],
    })
    const handle = made.runtime.stream('go')
    await until('it is asked', () => made.asked.length === 1)
    await made.clock.elapse(3_600_000)
    await handle.approve(made.asked[0]!.id, yes())
    expect((await finish(handle)).status).toBe('completed')
    expect(log).toEqual(['curl sandbox 1', 'curl none 2'])
  })

  it('an interrupt while it waits leaves it inside', async () => {
    const log: string[] = []
    const made = stage({ sandbox: box, tools: [blocked(log)], decide: () => 'wait', steps: [{ calls: [curl()] }] })
    const handle = made.runtime.stream('go')
    await until('it is asked', () => made.asked.length === 1)
    await handle.interrupt()
    expect((await finish(handle)).status).toBe('interrupted')
    expect(log).toEqual(['curl sandbox 1'])
  })

  it('so does a wish to stop, after which the model says what it has', async () => {
    const log: string[] = []
    const made = stage({
      sandbox: box,
      tools: [blocked(log)],
      decide: () => 'wait',
      steps: [{ calls: [curl()] }, { text: 'Not reached.' }],
    })
    const handle = made.runtime.stream('go')
    await until('it is asked', () => made.asked.length === 1)
    await handle.stop()
    const outcome = await finish(handle)
    expect([outcome.status, outcome.reason, log]).toEqual(['partial', 'stopped', ['curl sandbox 1']])
    expect(ofType(await journalOf(made.store, handle.sessionId), 'interaction.approval.resolved')).toMatchObject([{ by: 'runtime' }])
  })

  it('keys do not hold secrets, which a project would keep', async () => {
    const secret = 'ghp_0123456789abcdef'
    const kept: ApprovalKey[] = []
    await walk(['curl'], {
      decide: () => yes('project'),
      grants: { list: () => [], add: async (keys) => void kept.push(...keys) },
      // What a model says is without them already; a hook may put them in.
      hooks: [
        { name: 'h', onFailure: 'closed', beforeCall: () => ({ kind: 'change', input: { command: `curl -u ${secret}` }, reason: 'r' }) },
      ],
      config: { overlay: { GITHUB_TOKEN: secret } },
    })
    expect(kept.map(({ key }) => key)).toEqual(['unsandboxed:shell:{"command":"curl -u [redacted:GITHUB_TOKEN]"}'])
  })

  it('whose way out was approved before a crash is not asked about again', async () => {
    const log: string[] = []
    const reading = [blocked(log, { effect: 'read' })]
    const whole = await play([curl()], { sandbox: box, tools: reading, decide: () => yes() })
    const length = whole.events.findIndex(({ type }) => type === 'interaction.approval.resolved') + 1
    log.length = 0
    const store = await storeWith(whole.events.slice(0, length))
    const made = stage({ sandbox: box, tools: reading, store, decide: () => no(), steps: [{ text: 'Done.' }] })
    expect((await bounded((await made.runtime.open(whole.outcome.sessionId)).outcome)).status).toBe('completed')
    expect(made.asked).toEqual([])
    expect(log).toEqual(['curl none 2'])
  })
})

describe('rules about leaving the sandbox', () => {
  it('forbid it without asking', async () => {
    const { asked, log } = await walk(['a'], { decide: () => yes(), config: rules({ deny: 'unsandboxed' }) })
    expect([asked.length, log]).toEqual([0, ['a sandbox 1']])
    const starred = await walk(['a'], { decide: () => yes(), config: rules({ allow: 'shell' }, { deny: 'unsand*' }) })
    expect(starred.log).toEqual(['a sandbox 1'])
  })

  it('allow it without asking, where they name it', async () => {
    for (const allow of ['unsandboxed', 'unsandboxed(shell*)', 'unsandboxed(shell:*"a"*)']) {
      const { asked, log } = await walk(['a'], { decide: () => no(), config: rules({ allow }) })
      expect([asked.length, log], allow).toEqual([0, ['a sandbox 1', 'a none 2']])
    }
    const other = await walk(['a'], { decide: () => no(), config: rules({ allow: 'unsandboxed(web*)' }) })
    expect(other.asked).toHaveLength(1)
  })

  it('who allows everything has not allowed this', async () => {
    for (const allow of ['*', 'un*', '*(*)', 'shell']) {
      const { asked, log } = await walk(['a'], { decide: () => no(), config: rules({ allow }) })
      expect([asked.map(({ scope }) => scope), log], allow).toEqual([['unsandboxed'], ['a sandbox 1']])
    }
  })

  it('of an agent only tighten', async () => {
    const own = (rule: ApprovalRule) => ({ ...rules({ allow: 'unsandboxed' }), agents: [{ ...agent, approvals: [rule] }] })
    expect((await walk(['a'], { decide: () => yes(), config: own({ deny: 'unsandboxed' }) })).log).toEqual(['a sandbox 1'])
    expect((await walk(['a'], { decide: () => no(), config: own({ ask: 'unsandboxed' }) })).asked).toHaveLength(1)
    const loosened = { agents: [{ ...agent, approvals: [{ allow: 'unsandboxed' }] }] }
    expect((await walk(['a'], { decide: () => no(), config: loosened })).asked).toHaveLength(1)
  })
})

describe('a stricter sandbox policy of an agent', () => {
  const policy: SandboxPolicy = {
    mode: 'required',
    hosts: ['example.com', '*.example.org', '10.0.0.1'],
    privateHosts: ['example.com'],
    writable: ['/srv', '/data'],
    environment: ['HOME', 'LANG'],
    memory: 1_000,
    processes: 10,
  }

  it('never allows more', () => {
    expect(restrictPolicy(policy, {})).toEqual(policy)
    expect(
      restrictPolicy(policy, { mode: 'off', memory: 5_000, processes: 99, hosts: ['evil.com'], writable: ['/etc'], environment: ['KEY'] }),
    ).toEqual({
      mode: 'required',
      hosts: [],
      privateHosts: ['example.com'],
      writable: [],
      environment: [],
      memory: 1_000,
      processes: 10,
    })
    expect(restrictPolicy({ ...policy, mode: 'off' }, { mode: 'required' }).mode).toBe('required')
    expect(restrictPolicy(policy, { memory: 10, processes: 1, environment: ['LANG', 'KEY'], writable: ['/data'] })).toEqual({
      ...policy,
      memory: 10,
      processes: 1,
      environment: ['LANG'],
      writable: ['/data'],
    })
  })

  it('of a pattern of hosts it may name one, and of a folder a part', () => {
    const hosts = (...own: readonly string[]) => restrictPolicy(policy, { hosts: own }).hosts
    expect(hosts('api.example.org')).toEqual(['api.example.org'])
    expect(hosts('*.api.example.org')).toEqual(['*.api.example.org'])
    expect(hosts('*.com')).toEqual(['example.com'])
    expect(hosts('example.org', 'evilexample.org', '*.org.evil', '1.2.3.4')).toEqual([])
    expect(restrictPolicy({ ...policy, hosts: ['*.0.0.1'] }, { hosts: ['10.0.0.1'] }).hosts).toEqual([])
    expect(restrictPolicy(policy, { writable: ['/srv/notes', '/srv/../etc', '/srvs'] }).writable).toEqual(['/srv/notes'])
  })

  const confined = async (confinement: Confinement, sandbox: Partial<SandboxPolicy>): Promise<Confinement> => {
    const seen: Confinement[] = []
    const look = tool('look', { execute: (_, context) => `${seen.push(context.confinement)}` })
    const config: Setup['config'] = { agents: [{ ...agent, sandbox }] }
    await play([{ tool: 'look' }], { sandbox: { confinement }, tools: [look], config })
    return seen[0]!
  }

  it('reaches its calls', async () => {
    expect(await confined({ kind: 'sandbox', name: 'box', policy }, { hosts: [] })).toEqual({
      kind: 'sandbox',
      name: 'box',
      policy: { ...policy, hosts: [] },
    })
  })

  it('applies without a sandbox of the runtime if its mode is required', () => {
    const of = (sandbox: Partial<SandboxPolicy>) =>
      confinementOf({ ports: { sandbox: { confinement: { kind: 'none' } } }, state: { agent: { sandbox } } } as never)
    expect(of({ mode: 'required', memory: 5 })).toMatchObject({ kind: 'sandbox', policy: { ...defaultSandboxPolicy, memory: 5 } })
    expect(of({ memory: 5 })).toEqual({ kind: 'none' })
  })

  it.each([
    [{ confinement: { kind: 'sandbox' } }, 'sandbox.confinement'],
    [{ confinement: { kind: 'sandbox', name: 'box', policy: { ...policy, hosts: 'all' } } }, 'sandbox.confinement.policy.hosts'],
    [{ confinement: { kind: 'sandbox', name: 'box', policy: { mode: 'off' } } }, 'sandbox.confinement.policy.memory'],
  ])('an invalid sandbox is reported before anything starts: %j', async (sandbox, place) => {
    expect((await troupeError(() => world({ sandbox } as never))).problems).toContainEqual(expect.objectContaining({ place }))
  })
})

describe('a child that the sandbox blocks', () => {
  it('asks on the root stream, and is answered there', async () => {
    const log: string[] = []
    const made = stage({
      sandbox: box,
      tools: [blocked(log)],
      decide: () => 'wait',
      config: {
        agents: [
          { ...agent, name: 'boss', tools: [], agents: ['clerk'] },
          { ...agent, tools: ['shell'] },
        ],
        agentSelection: { agent: 'boss' },
      },
      steps: [{ calls: [{ tool: 'agent__clerk', input: { prompt: 'Go' } }] }, { calls: [curl()] }, { text: 'reached' }, { text: 'Done.' }],
    })
    const handle = made.runtime.stream('go')
    for await (const event of handle) {
      if (event.type !== 'interaction.approval.requested') continue
      expect([event.agentPath, event.request.scope]).toEqual(['root/clerk#1', 'unsandboxed'])
      await handle.approve(event.request.id, yes())
    }
    expect((await finish(handle)).status).toBe('completed')
    expect(log).toEqual(['curl sandbox 1', 'curl none 2'])
    expect(ofType(await journalOf(made.store, handle.sessionId), 'interaction.approval.resolved')).toHaveLength(1)
  })
})
