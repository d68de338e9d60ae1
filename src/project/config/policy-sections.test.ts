// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { configOf } from '../../../test/fixtures/memory-files.ts'
import { defaultSandboxPolicy } from '../../contracts/index.ts'
import { isInside } from '../../util/is-inside.ts'
import { approvalsOf, contextOf, hooksOf, sandboxOf, skillsOf } from './section-values.ts'
import { configRows } from './show-config.ts'

const nobody = { trusted: new Map() }
const user = '/home/.ai-agent/.ai-agent.json'
const system = '/etc/ai-agent/.ai-agent.json'
const project = '/project/.ai-agent.json'
const withheldOf = async (...given: Parameters<typeof configOf>) => (await configOf(...given)).pending.flatMap(({ withheld }) => withheld)

describe('rules', () => {
  test('one policy for each layer that has some, named by its file, strongest first', async () => {
    const config = await configOf({
      [project]: { approvals: { rules: [{ allow: 'shell(git *)' }] } },
      [user]: { approvals: { rules: [{ ask: 'shell', reason: 'Mine' }] } },
      [system]: { approvals: { rules: [] } },
    })
    expect(approvalsOf(config)).toEqual({
      policies: [
        { name: project, rules: [{ allow: 'shell(git *)' }] },
        { name: user, rules: [{ ask: 'shell', reason: 'Mine' }] },
      ],
    })
  })

  test('an untrusted project allows nothing, but its ask and deny rules apply', async () => {
    const contents = {
      [project]: { approvals: { rules: [{ deny: 'shell' }, { allow: '*' }, { allow: 'unsandboxed' }, { ask: 'web_fetch' }] } },
    }
    const config = await configOf(contents, nobody)
    expect(approvalsOf(config).policies).toEqual([{ name: project, rules: [{ deny: 'shell' }, { ask: 'web_fetch' }] }])
    expect(config.pending).toMatchObject([{ path: project, withheld: ['the 2 allow rules in approvals.rules'] }])
    expect(config.diagnostics.filter(({ code }) => code !== 'config_rule_idle')).toMatchObject([
      { code: 'config_untrusted', message: expect.stringContaining('approvals.rules') },
    ])
    expect(approvalsOf(await configOf(contents)).policies[0]?.rules).toHaveLength(4)
    const onlyAllows = await configOf({ [project]: { approvals: { rules: [{ allow: '*' }] } } }, nobody)
    expect(approvalsOf(onlyAllows)).toEqual({ policies: [] })
  })

  test('deny without an approver wins over suspend', async () => {
    const of = async (...wishes: readonly string[]) => {
      const [first, second] = wishes.map((onUnavailable) => ({ approvals: { onUnavailable } }))
      return approvalsOf(await configOf({ ...(first && { [project]: first }), ...(second && { [user]: second }) }, nobody)).onUnavailable
    }
    expect([await of(), await of('suspend'), await of('deny'), await of('suspend', 'deny'), await of('deny', 'suspend')]).toEqual([
      undefined,
      'suspend',
      'deny',
      'deny',
      'deny',
    ])
  })

  test('a dollar that means itself is written twice', async () => {
    const config = await configOf({ [user]: { approvals: { rules: [{ deny: 'shell(echo $${HOME})' }] } } })
    expect(approvalsOf(config).policies[0]?.rules).toEqual([{ deny: 'shell(echo ${HOME})' }])
  })
})

describe('the sandbox', () => {
  test('is the default if nothing is set', async () => {
    expect(sandboxOf(await configOf({}))).toEqual(defaultSandboxPolicy)
  })

  test("a person's own and trusted layers loosen the default; folders are relative to their file", async () => {
    const loose = {
      mode: 'off',
      hosts: ['a.example'],
      privateHosts: ['a.example'],
      writable: ['../w', '/srv'],
      environment: ['LANG'],
      memory: '8GB',
      processes: 999,
    }
    const expected = { ...loose, memory: 8 * 1024 ** 3 }
    expect(sandboxOf(await configOf({ [user]: { sandbox: loose } }, nobody))).toEqual({ ...expected, writable: ['/home/w', '/srv'] })
    expect(sandboxOf(await configOf({ [project]: { sandbox: loose } }))).toEqual({ ...expected, writable: ['/w', '/srv'] })
  })

  test('layers are combined: sandboxing wins, lists are intersected, the smaller number applies', async () => {
    const config = await configOf({
      [project]: {
        sandbox: {
          mode: 'off',
          hosts: ['api.a.example', '*.b.example', 'c.example'],
          privateHosts: ['*.b.example', 'c.example'],
          writable: ['/srv', './own'],
          memory: '4GB',
          processes: 9,
        },
      },
      [user]: {
        sandbox: {
          hosts: ['*.A.example', 'x.b.example', '*.b.example'],
          privateHosts: ['x.b.example'],
          writable: ['/srv', '/other'],
          environment: ['LANG'],
          memory: '8GB',
        },
      },
      [system]: { sandbox: { mode: 'required', processes: 99 } },
    })
    expect(sandboxOf(config)).toEqual({
      mode: 'required',
      hosts: ['api.a.example', '*.b.example', 'x.b.example'],
      privateHosts: ['x.b.example'],
      writable: ['/srv'],
      environment: ['LANG'],
      memory: 4 * 1024 ** 3,
      processes: 9,
    })
  })

  test('an untrusted project cannot loosen the sandbox, and the attempt is reported', async () => {
    const contents = {
      [project]: {
        sandbox: {
          mode: 'off',
          hosts: ['evil.example'],
          privateHosts: ['evil.example'],
          writable: ['/etc'],
          environment: ['AWS_KEY'],
          memory: '9GB',
          processes: 257,
        },
      },
    }
    expect(sandboxOf(await configOf(contents, nobody))).toEqual(defaultSandboxPolicy)
    expect(await withheldOf(contents, nobody)).toEqual([
      'sandbox.mode',
      ...['hosts', 'privateHosts', 'writable', 'environment', 'memory', 'processes'].map(
        (key) => `sandbox.${key}, where it allows more than your configuration`,
      ),
    ])
    const strict = { [project]: { sandbox: { mode: 'required', hosts: [], memory: '1GB', processes: 256 } } }
    expect(await withheldOf(strict, nobody)).toEqual([])
  })

  test('the shown settings of an untrusted project are those that apply', async () => {
    const sandbox = { mode: 'off', hosts: ['a.example', 'evil.example'], memory: '9GB' }
    const config = await configOf({ [user]: { sandbox: { hosts: ['a.example'] } }, [project]: { sandbox } }, nobody)
    expect(configRows({ config }).filter(({ key }) => key.startsWith('sandbox.'))).toEqual([
      { key: 'sandbox.hosts', value: ['a.example'], origin: `${project}:1` },
      { key: 'sandbox.memory', value: '2GB', origin: `${project}:1` },
      { key: 'sandbox.hosts', value: ['a.example'], origin: `${user}:1` },
    ])
  })

  test('an untrusted project tightens what a person allows', async () => {
    const contents = {
      [user]: { sandbox: { mode: 'off', hosts: ['a.example', 'b.example'], writable: ['/srv'], environment: ['A', 'B'], memory: '8GB' } },
      [project]: {
        sandbox: {
          mode: 'required',
          hosts: ['b.example', 'c.example'],
          privateHosts: ['b.example'],
          writable: [],
          environment: ['B'],
          memory: '4GB',
          processes: 5,
        },
      },
    }
    expect(sandboxOf(await configOf(contents, nobody))).toEqual({
      mode: 'required',
      hosts: ['b.example'],
      privateHosts: [],
      writable: [],
      environment: ['B'],
      memory: 4 * 1024 ** 3,
      processes: 5,
    })
  })
})

describe('hooks', () => {
  const hook = (name: string) => ({ name, on: ['before_call'], command: ['./run.sh', '$${X}'], onFailure: 'closed' })

  test('of all trusted layers, each with its folder and its place', async () => {
    const config = await configOf({ [project]: { hooks: [hook('a'), hook('b')] }, [system]: { hooks: [hook('a')] } })
    const definition = { ...hook('a'), command: ['./run.sh', '${X}'] }
    expect(hooksOf(config)).toEqual([
      { definition, baseDir: '/project', place: `${project}:1:11`, isOwn: false },
      { definition: { ...definition, name: 'b' }, baseDir: '/project', place: expect.stringMatching(/\.json:1:\d+$/), isOwn: false },
      { definition, baseDir: '/etc/ai-agent', place: `${system}:1:11`, isOwn: true },
    ])
  })

  test('an untrusted project has none, and that is reported', async () => {
    const contents = { [project]: { hooks: [hook('spy')] }, [user]: { hooks: [hook('mine')] } }
    expect(hooksOf(await configOf(contents, nobody)).map(({ definition }) => definition.name)).toEqual(['mine'])
    expect(await withheldOf(contents, nobody)).toEqual(['hooks'])
  })
})

describe('skills and context', () => {
  test('settings of all layers apply; folders only of trusted ones', async () => {
    const contents = {
      [project]: { skills: { directories: ['./s', '/home/x'], disabled: ['a', 'b'] } },
      [user]: { skills: { directories: ['../x', '/srv/s'], disabled: ['b', 'c'] } },
    }
    expect(skillsOf(await configOf(contents))).toEqual({ directories: ['/project/s', '/home/x', '/srv/s'], disabled: ['a', 'b', 'c'] })
    expect(skillsOf(await configOf(contents, nobody))).toEqual({ directories: ['/home/x', '/srv/s'], disabled: ['a', 'b', 'c'] })
    expect(await withheldOf(contents, nobody)).toEqual(['skills.directories'])
    expect(skillsOf(await configOf({}))).toEqual({ directories: [], disabled: [] })
  })

  test('a disabled setting stays disabled', async () => {
    const said = async (first: boolean, second: boolean) =>
      contextOf(await configOf({ [project]: { context: { agentsMd: first } }, [user]: { context: { agentsMd: second } } }, nobody)).agentsMd
    expect([await said(true, true), await said(true, false), await said(false, true)]).toEqual([true, false, false])
    expect(contextOf(await configOf({}))).toEqual({ agentsMd: true })
  })
})

describe('whatever an untrusted project says', () => {
  const names = (...of: readonly string[]) => fc.uniqueArray(fc.constantFrom(...of))
  const sandbox = fc.record(
    {
      mode: fc.constantFrom('off', 'required'),
      hosts: names('a.example', '*.example', 'x.a.example', 'evil.test'),
      writable: names('/srv', '/', '/srv/below', '.'),
      environment: names('A', 'B', 'KEY'),
      memory: fc.constantFrom('16MB', '2GB', '4GB', '64GB'),
      processes: fc.integer({ min: 1, max: 5000 }),
    },
    { requiredKeys: [] },
  )
  const rule = fc.constantFrom({ allow: '*' }, { allow: ['shell', 'unsandboxed'] }, { ask: 'shell' }, { deny: 'web_fetch' })

  test('it only makes things stricter', async () => {
    await fc.assert(
      fc.asyncProperty(sandbox, sandbox, fc.array(rule), async (own, theirs, rules) => {
        const mine = { [user]: { sandbox: own, approvals: { rules: [{ ask: 'shell' }] } } }
        const before = sandboxOf(await configOf(mine, nobody))
        const config = await configOf({ ...mine, [project]: { sandbox: theirs, approvals: { rules } } }, nobody)
        const after = sandboxOf(config)
        if (before.mode === 'required') expect(after.mode).toBe('required')
        expect(after.memory).toBeLessThanOrEqual(before.memory)
        expect(after.processes).toBeLessThanOrEqual(before.processes)
        for (const each of after.environment) expect(before.environment).toContain(each)
        for (const each of after.writable) expect(before.writable.some((folder) => isInside(folder, each))).toBe(true)
        for (const host of after.hosts) {
          const isCovered = before.hosts.some((each) => each === host || (each.startsWith('*.') && host.endsWith(each.slice(1))))
          expect([host, before.hosts, isCovered]).toEqual([host, before.hosts, true])
        }
        expect(approvalsOf(config).policies.some((policy) => policy.name === project && policy.rules.some(({ allow }) => allow))).toBe(
          false,
        )
      }),
      { numRuns: 300 },
    )
  })
})
