import { describe, expect, it } from 'vitest'
import type { ApprovalPolicy, ApprovalRule, JsonObject } from '../../src/contracts/index.ts'
import { rulingFor } from '../../src/steps/approval/permission.ts'
import { ruling } from '../../src/steps/approval/rules.ts'
import type { ActiveSession } from '../../src/steps/session/active-session.ts'
import { agent, objectSchema, resultsIn, tool, troupeError, until, world } from '../acceptance/support.ts'
import { callsOf, play, recordsOf, run, shell, stage, yes } from './approval-stage.ts'

const rules = (...given: readonly ApprovalRule[]): { approvals: ApprovalPolicy } => ({ approvals: { rules: given } })
const commands = (ran: readonly { readonly command?: unknown }[]) => ran.map(({ command }) => command)
const verdict = (policies: readonly (readonly ApprovalRule[])[], uses: readonly string[], tool = 'shell') =>
  ruling(
    policies.map((each) => ({ rules: each })),
    { names: [tool], keys: uses.map((use) => ({ key: `command:${use}`, label: use })) },
  )?.verdict

describe('rules', () => {
  it('allow without asking, ask where a grant is missing, forbid without asking', async () => {
    const { ran, asked, told } = await play([run('git status'), run('ls'), run('rm -r x'), run('date')], {
      decide: () => yes(),
      config: rules({ allow: 'shell(git *)' }, { ask: 'shell(ls)' }, { deny: 'shell(rm *)' }),
    })
    expect(commands(ran)).toEqual(['git status', 'ls', 'date'])
    expect(asked.map(({ input }) => input.command)).toEqual(['ls', 'date'])
    expect(told.map(({ ok }) => ok)).toEqual([true, true, false, true])
  })

  it('give the model rule, place and reason of a refusal; the journal has both sides', async () => {
    const { events, told } = await play([run('git push'), run('rm x')], {
      config: {
        approvals: [
          { name: 'troupe.yaml', rules: [{ deny: 'shell(rm *)', reason: 'Nothing is deleted here' }] },
          { rules: [{ allow: 'shell(git *)' }] },
        ],
      },
    })
    expect(callsOf(events)[0]).toMatchObject({ approved: { by: 'allow shell(git *)' } })
    expect(told[1]?.content).toBe(
      'Error (denied): A rule forbids this call: deny shell(rm *) (troupe.yaml). Nothing is deleted here. Continue without it.',
    )
    expect(recordsOf(events)[1]).toMatchObject({
      status: 'declined',
      error: { class: 'denied', message: 'A rule forbids this call: deny shell(rm *) (troupe.yaml). Nothing is deleted here.' },
    })
    expect(events.filter(({ type }) => type.startsWith('interaction.approval'))).toEqual([])
  })

  it('in one place the last match applies, of several places the strictest', () => {
    const general: ApprovalRule[] = [{ deny: 'shell' }, { allow: 'shell(git *)' }]
    expect(verdict([general], ['git log'])).toBe('allow')
    expect(verdict([general.toReversed()], ['git log'])).toBe('deny')
    expect(verdict([[{ allow: ['shell(git *)', 'shell(ls)'] }], [{ ask: 'shell(git *)' }]], ['git log'])).toBe('ask')
    expect(verdict([[{ ask: 'shell' }], [{ deny: 'shell(git *)' }], [{ allow: '*' }]], ['git log'])).toBe('deny')
    expect(verdict([[{ deny: 'web_fetch' }]], ['git log'])).toBeUndefined()
    expect(verdict([], ['git log'])).toBeUndefined()
  })

  it('other names of a key let rules ask and deny, never allow', () => {
    const said = (...given: readonly ApprovalRule[]) =>
      ruling([{ rules: given }], { names: ['read_file'], keys: [{ key: 'read:/w/.env', label: '', aliases: ['.env', './.env'] }] })?.verdict
    expect(said({ deny: 'read_file(.env)' })).toBe('deny')
    expect(said({ allow: 'read_file' }, { ask: 'read_file(./*)' })).toBe('ask')
    expect(said({ allow: 'read_file(.env)' })).toBeUndefined()
    expect(said({ deny: 'read_file(.env)' }, { allow: 'read_file(.env)' })).toBe('deny')
    expect(said({ deny: 'read_file(.env)' }, { allow: 'read_file(/w/*)' })).toBe('allow')
  })

  it('what is asked about by another name takes no denial back', () => {
    const key = { key: 'script:"cd x && rm -r y && git status"', label: '', aliases: ['cd x', 'rm -r y', 'git status'], isOpaque: true }
    const said = (...given: readonly ApprovalRule[]) => ruling([{ rules: given }], { names: ['shell'], keys: [key] })?.verdict
    expect(said({ deny: 'shell' }, { ask: 'shell(git *)' })).toBe('deny')
    expect(said({ deny: 'shell(rm *)' }, { ask: 'shell(git *)' })).toBe('deny')
    expect(said({ allow: 'shell' }, { ask: 'shell(git *)' })).toBe('ask')
    expect(said({ deny: 'shell(rm *)' }, { allow: 'shell' }, { ask: 'shell(git *)' })).toBe('ask')
    const plain = { ...key, key: 'command:git status', aliases: [] }
    expect(ruling([{ rules: [{ deny: 'shell' }, { ask: 'shell(git *)' }] }], { names: ['shell'], keys: [plain] })?.verdict).toBe('ask')
  })

  it('allow by each name that nothing else has', () => {
    const said = (...given: readonly ApprovalRule[]) =>
      ruling([{ rules: given }], { names: ['write_file'], keys: [{ key: 'path:/w/a/b', label: '', use: ['/w/a/b', 'a/b'] }] })?.verdict
    for (const pattern of ['write_file(/w/a/*)', 'write_file(a/*)']) {
      expect(said({ allow: pattern }), pattern).toBe('allow')
      expect(said({ allow: 'write_file' }, { deny: pattern }), pattern).toBe('deny')
    }
    expect(said({ allow: 'write_file(b)' })).toBeUndefined()
  })

  it('what is opaque only as far as it is known how it begins is asked about where a rule may be about that', () => {
    const key = { key: 'command:xargs git', label: '', aliases: ['git', 'git …'], within: ['git '], isOpaque: true }
    const said = (...given: readonly ApprovalRule[]) => ruling([{ rules: given }], { names: ['shell'], keys: [key] })
    expect(said({ allow: 'shell' }, { deny: 'shell(git push*)' })).toMatchObject({ verdict: 'ask', isUnsure: true })
    expect(said({ allow: 'shell' }, { deny: 'shell(git *)' })?.verdict).toBe('deny')
    expect(said({ allow: 'shell' }, { deny: 'shell(rm *)' })?.verdict).toBe('allow')
    expect(said({ allow: 'shell' }, { deny: 'shell(gitk *)' })?.verdict).toBe('allow')
  })

  it('the content of a script is unknown: if a rule may be about a part of it, it is asked about', () => {
    const said = (...given: readonly ApprovalRule[]) => {
      const { verdict: what, isUnsure } =
        ruling([{ rules: given }], { names: ['shell'], keys: [{ key: 'script:"(git push)"', label: '', isOpaque: true }] }) ?? {}
      return isUnsure ? `${what}, unsure` : what
    }
    expect(said({ allow: 'shell' }, { deny: 'shell(git push*)' })).toBe('ask, unsure')
    expect(said({ deny: 'shell(git push*)' })).toBe('ask, unsure')
    expect(said({ allow: 'shell' }, { ask: 'shell(git push*)' })).toBe('ask')
    expect(said({ deny: 'shell(git push*)' }, { ask: 'shell(make)' })).toBe('ask, unsure')
    expect(said({ deny: 'shell' }, { ask: 'shell(git *)' })).toBe('deny')
    expect(said({ deny: 'shell(git push*)' }, { allow: 'shell' })).toBe('allow')
    expect(said({ allow: 'shell' }, { allow: 'shell(git *)' })).toBe('allow')
    expect(said({ deny: 'write_file(/x)' }, { allow: 'shell' })).toBe('allow')
  })

  it('a script that a rule may deny is asked about in spite of a grant for the whole tool', async () => {
    const ran: JsonObject[] = []
    const opaque = shell(ran, {
      approval: ({ command }) => ({ summary: 'Run', keys: [{ key: `script:"${command}"`, label: 'this', isOpaque: true }] }),
    })
    const whole = { decide: () => yes('session', 'tool:shell'), tools: [opaque] }
    const denying = await play([run('(a)'), run('(b)')], { ...whole, config: rules({ deny: 'shell(git push*)' }) })
    expect(denying.asked.map(({ input }) => input.command)).toEqual(['(a)', '(b)'])
    const asking = await play([run('(a)'), run('(b)')], { ...whole, config: rules({ ask: 'shell(git push*)' }) })
    expect(asking.asked.map(({ input }) => input.command)).toEqual(['(a)'])
  })

  it('a wish that asks nobody is looked at by rules alone', async () => {
    const ran: JsonObject[] = []
    const quiet = shell(ran, {
      approval: ({ command }) => ({
        summary: 'Look',
        keys: [{ key: `read:/w/${command}`, label: 'it', aliases: [String(command)] }],
        asks: false,
      }),
    })
    const free = await play([run('a')], { tools: [quiet] })
    expect([free.asked.length, ran.length]).toEqual([0, 1])
    const given = { decide: () => yes('session'), tools: [quiet], config: rules({ deny: 'shell(b)' }, { ask: 'shell(c)' }) }
    const { asked, told, state } = await play([run('a'), run('b'), run('c'), run('c')], given).then((played) => ({
      ...played,
      state: played.outcome.snapshot,
    }))
    expect(told.map(({ ok }) => ok)).toEqual([true, false, true, true])
    expect(asked.map(({ keys }) => keys)).toEqual([[{ key: 'read:/w/c', label: 'it', aliases: ['c'] }]])
    expect(JSON.stringify(state)).not.toContain('aliases')
  })

  it.each([
    { aliases: '.env' },
    { use: [] },
    { use: ['a', 7] },
    { isOpaque: 'yes' },
    { within: '/w/' },
    { within: [7] },
    { tools: 'read_file' },
    { mustBeNamed: 'yes' },
    { use: 7 },
    { isPrefix: 1 },
  ])('a key that cannot be understood is none, and the call is asked about as a whole: %j', async (wrong) => {
    const asks = shell([], { approval: () => ({ summary: 'Look', keys: [{ key: 'k', label: 'k', ...wrong } as never], asks: false }) })
    const { asked } = await play([run('a')], { tools: [asks], decide: () => yes() })
    expect(asked.map(({ keys }) => keys)).toEqual([[{ key: 'tool:shell', label: 'any call of shell' }]])
  })

  it('rules of each caller bind an agent independently', () => {
    const deny = { name: 'agent boss', rules: [{ deny: 'shell' }, { allow: 'shell(git *)' }] }
    const session = (own: readonly ApprovalRule[], policies: readonly ApprovalPolicy[] = []) =>
      ({ ports: { rules: policies }, state: { agent: { name: 'kid', approvals: own, bounds: [deny] } } }) as unknown as ActiveSession
    const about = (use: string) => ({ names: ['shell'], keys: [{ key: `command:${use}`, label: use }] })
    const all: readonly ApprovalPolicy[] = [{ rules: [{ allow: '*' }] }]
    expect(rulingFor(session([{ allow: '*' }], all), about('ls'))).toEqual({ verdict: 'deny', rule: 'deny shell (agent boss)' })
    expect(rulingFor(session([{ ask: 'shell' }], all), about('git log'))).toEqual({ verdict: 'ask', rule: 'ask shell (agent kid)' })
    expect(rulingFor(session([], all), about('git log'))?.verdict).toBe('allow')
    expect(rulingFor(session([]), about('git log'))).toBeUndefined()
  })

  it('a call that does several things is allowed where all are, refused where one is, asked otherwise', async () => {
    const { ran, asked, told } = await play([run('git add . && git commit'), run('git add . && make'), run('git add . && rm x')], {
      decide: () => yes(),
      config: rules({ allow: 'shell(git *)' }, { deny: 'shell(rm *)' }),
    })
    expect(commands(ran)).toEqual(['git add . && git commit', 'git add . && make'])
    expect(asked.map(({ input }) => input.command)).toEqual(['git add . && make'])
    expect(told[2]?.content).toContain('A rule forbids')
  })

  it('an agent’s own can only tighten: its allow has no effect, its ask and deny have', async () => {
    const own = (...approvals: readonly ApprovalRule[]) => ({ agents: [{ ...agent, approvals }] })
    const allowed = await play([run('date')], { decide: () => yes(), config: own({ allow: '*' }) })
    expect(allowed.asked).toHaveLength(1)
    const session = rules({ allow: 'shell' })
    const asks = await play([run('date')], { decide: () => yes(), config: { ...session, ...own({ ask: 'shell' }) } })
    expect([asks.asked.length, asks.ran.length]).toEqual([1, 1])
    const denies = await play([run('date')], { decide: () => yes(), config: { ...session, ...own({ deny: 'shell' }) } })
    expect(denies.told[0]?.content).toContain('deny shell (agent clerk)')
    expect([denies.asked.length, denies.ran.length]).toEqual([0, 0])
    const outranked = await play([run('date')], { config: { ...rules({ deny: 'shell' }), ...own({ ask: 'shell' }) } })
    expect(outranked.told[0]?.content).toContain('deny shell. ')
  })

  it('that two agents share are reported under the name of each', async () => {
    const approvals = [{ deny: 'shell' }]
    const other = { ...agent, name: 'other', approvals }
    const config = { agents: [{ ...agent, approvals }, other], agentSelection: { agent: 'clerk' } }
    const steps = [{ calls: [run('ls')] }, { text: '1' }, { calls: [run('ls')] }, { text: '2' }]
    const { runtime, model } = stage({ config, steps })
    for (const name of ['clerk', 'other']) await runtime.run('go', { agent: name })
    expect(resultsIn(model.requests[1])[0]?.content).toContain('(agent clerk)')
    expect(resultsIn(model.requests[3])[0]?.content).toContain('(agent other)')
  })

  it('fit tools by name, by star, and by the name that the tool gives itself', async () => {
    const issue = tool('github/create_issue')
    const config = (pattern: string) => ({ tools: [issue], config: rules({ deny: pattern }) })
    for (const pattern of ['github__create_issue', 'github/create_issue', 'github/*', '*issue', '*', 'git*create*'])
      expect((await play([{ tool: 'github__create_issue' }], config(pattern))).told[0]?.ok, pattern).toBe(false)
    for (const pattern of ['github', 'github/create', 'create_issue', 'gitlab/*', '*issues'])
      await expect(play([{ tool: 'github__create_issue' }], config(pattern)), pattern).rejects.toThrow(/no tool is called|matches nothing/)
  })

  it('letters of a pattern that mean something elsewhere mean themselves', () => {
    const fits = (pattern: string, use: string) => verdict([[{ deny: pattern }]], [use]) === 'deny'
    expect(fits('shell(a.c)', 'abc')).toBe(false)
    expect(fits('shell([a-z]+)', 'b')).toBe(false)
    expect(fits('shell(f(x))', 'f(x)')).toBe(true)
    expect(fits('shell(a*)', 'a\nb')).toBe(true)
    expect(fits('shell(a*a)', 'a')).toBe(false)
    expect(fits('shell(*)', '')).toBe(true)
    expect(fits('shell(a**b)', 'ab')).toBe(true)
    expect(fits('shell(ab*bc)', 'abc')).toBe(false)
    expect(fits('shell(*x*y)', 'axbxcy')).toBe(true)
  })

  it('that ask or deny mean `git push:*` as Claude Code does, and those that allow do not', () => {
    for (const use of ['git push', 'git push -f', 'git push:x']) {
      expect(verdict([[{ deny: 'shell(git push:*)' }]], [use]), use).toBe('deny')
      expect(verdict([[{ allow: 'shell(git push:*)' }]], [use]), use).toBe(use === 'git push:x' ? 'allow' : undefined)
    }
    expect(verdict([[{ deny: 'shell(git push:*)' }]], ['git pushes'])).toBeUndefined()
  })

  it('a pattern of many stars on a text that almost fits takes no time', () => {
    const hostile = `shell(${'*a'.repeat(5_000)}*b)`
    expect(verdict([[{ deny: hostile }, { allow: 'shell(*z)' }]], ['a'.repeat(200_000)])).toBeUndefined()
    expect(verdict([[{ deny: hostile }]], [`${'a'.repeat(200_000)}b`])).toBe('deny')
  })

  it('name what is granted as it is: a colon in a use belongs to it', () => {
    expect(verdict([[{ deny: 'shell(a:b)' }]], ['a:b'])).toBe('deny')
    expect(ruling([{ rules: [{ deny: 'shell(k)' }] }], { names: ['shell'], keys: [{ key: 'k', label: 'k' }] })?.verdict).toBe('deny')
  })
})

describe('a rule on a tool that says nothing about its calls', () => {
  const read = () => tool('read', { schema: objectSchema({ path: { type: 'string' }, more: { type: 'object' } }) })
  const call = (path: string, more?: object) => ({ tool: 'read', input: { path, ...(more && { more }) } })

  it('asks about it as a whole, and remembers that', async () => {
    const { asked, events } = await play([call('/a'), call('/b')], {
      tools: [read()],
      decide: () => yes('session'),
      config: rules({ ask: 'read' }),
    })
    expect(asked).toMatchObject([{ tool: 'read', summary: 'Call read', keys: [{ key: 'tool:read', label: 'any call of read' }] }])
    expect(asked[0]).not.toHaveProperty('wider')
    expect(callsOf(events).map(({ approved }) => approved?.by)).toEqual(['ann', 'granted for this session'])
  })

  it('is careful by what it is given: refused where a text of the input fits', async () => {
    const config = rules({ deny: 'read(/etc/*)' }, { ask: 'read(*secret*)' })
    const { told, asked } = await play([call('/etc/passwd'), call('/srv/a'), call('x', { deep: ['/etc/shadow'] }), call('/srv/secrets')], {
      tools: [read()],
      decide: () => yes(),
      config,
    })
    expect(told.map(({ ok }) => ok)).toEqual([false, true, false, true])
    expect(asked.map(({ input }) => input.path)).toEqual(['/srv/secrets'])
  })

  it('is never let through by it: what is written like an allowed path may be another', async () => {
    const config = rules({ deny: 'read' }, { allow: 'read(/srv/*)' })
    const { told } = await play([call('/srv/../etc/passwd'), call('/srv/a')], { tools: [read()], config })
    expect(told.map(({ ok }) => ok)).toEqual([false, false])
    const excepted = rules({ deny: 'read(/srv/*)' }, { allow: 'read(/srv/public/*)' })
    expect((await play([call('/srv/public/../private')], { tools: [read()], config: excepted })).told[0]?.ok).toBe(false)
  })

  it('lets it through where the whole tool is allowed, and says who did', async () => {
    const { events } = await play([call('/a')], { tools: [read()], config: rules({ deny: '*' }, { allow: 'read' }) })
    expect(callsOf(events)[0]?.approved).toEqual({ by: 'allow read' })
  })

  it('also where the tool fails to say what a call is for', async () => {
    const failing = shell([], {
      approval: () => {
        throw new Error('no')
      },
    })
    const config = rules({ deny: 'shell(cat /etc/*)' })
    const { told, asked } = await play([run('cat /etc/passwd'), run('cat a')], { tools: [failing], decide: () => yes(), config })
    expect([told.map(({ ok }) => ok), asked.map(({ input }) => input.command)]).toEqual([[false, true], ['cat a']])
  })

  it('neither a rule nor a grant for the whole tool lets it through if the tool fails to say what it is for, and a rule may deny it', async () => {
    const failing = shell([], {
      approval: () => {
        throw new Error('no')
      },
    })
    const hidden = [run('cd / && cat /etc/passwd'), run('cd /etc && cat passwd')]
    for (const given of [rules({ allow: 'shell' }, { deny: 'shell(cat /etc/*)' }), rules({ deny: 'shell(cat /etc/*)' })]) {
      const { asked } = await play(hidden, { tools: [failing], decide: () => yes('session'), config: given })
      expect(asked).toHaveLength(2)
    }
    const { asked } = await play(hidden, { tools: [failing], decide: () => yes('session') })
    expect(asked).toHaveLength(1)
  })

  it('also where the tool finds this call harmless', async () => {
    const harmless = shell([], { approval: () => undefined })
    const { told } = await play([run('cat /etc/passwd'), run('cat a')], { tools: [harmless], config: rules({ deny: 'shell(cat /etc/*)' }) })
    expect(told.map(({ ok }) => ok)).toEqual([false, true])
  })
})

describe('a call that was approved before rules changed', () => {
  it('is refused where a rule forbids it now, though somebody said yes', async () => {
    const one = stage({ decide: () => 'suspend', steps: [{ calls: [run('make')] }] })
    const { sessionId: treeId } = await one.runtime.run('go')
    await one.runtime.close()
    const two = stage({ store: one.store, steps: [{ text: 'Done.' }], config: rules({ deny: 'shell(make)', reason: 'Frozen' }) })
    const [request] = (await one.store.journal.read(treeId, 0)).flatMap((event) =>
      event.type === 'interaction.approval.requested' ? [event.request] : [],
    )
    await two.runtime.sessions.approve(treeId, { approvalId: request!.id, decision: yes() })
    await two.runtime.open(treeId)
    await until('the end', async () => (await two.runtime.sessions.outcome(treeId)).status === 'completed')
    expect([...one.ran, ...two.ran]).toEqual([])
    expect(JSON.stringify(two.model.requests[0]?.messages)).toContain('A rule forbids this call: deny shell(make). Frozen.')
  })
})

describe('wrong rules are reported before anything starts', () => {
  const problems = async (approvals: unknown) => (await troupeError(() => world({ config: { approvals } as never }))).problems
  it.each([
    ['shell', 'config.approvals', 'expected an object with rules'],
    [{ rules: 'deny' }, 'config.approvals.rules', 'expected a list of rules'],
    [{ rules: [{ deny: 'a', allow: 'b' }] }, 'config.approvals.rules[0]', 'found allow and deny'],
    [{ rules: [{ reason: 'x' }] }, 'config.approvals.rules[0]', 'found none'],
    [{ rules: [{ denny: 'a' }] }, 'config.approvals.rules[0].denny', 'unknown key'],
    [{ rules: [{ deny: '' }] }, 'config.approvals.rules[0].deny', 'expected a pattern'],
    [{ rules: [{ deny: 'shell(rm' }] }, 'config.approvals.rules[0].deny', 'expected a pattern'],
    [{ rules: [{ deny: [] }] }, 'config.approvals.rules[0].deny', 'expected a pattern'],
    [{ rules: [{ deny: ['shell', 7] }] }, 'config.approvals.rules[0].deny', 'expected a pattern'],
    [{ rules: [{ deny: 'a', reason: 7 }] }, 'config.approvals.rules[0].reason', 'expected a string'],
    [{ name: 7, rules: [] }, 'config.approvals.name', 'expected a string'],
    [[{ rules: [] }, 'x'], 'config.approvals[1]', 'expected an object with rules'],
  ])('%j', async (approvals, place, message) => {
    expect(await problems(approvals)).toContainEqual(expect.objectContaining({ place, message: expect.stringContaining(message) }))
  })
  it('those of an agent, too', async () => {
    const config = { agents: [{ ...agent, approvals: [{ deny: 7 }] }] }
    expect((await troupeError(() => world({ config } as never))).problems).toMatchObject([{ place: 'config.agents[0].approvals[0].deny' }])
  })
})
