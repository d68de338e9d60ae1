import fc from 'fast-check'
import { expect, test } from 'vitest'
import { defaultSandboxPolicy, type Problem, type SandboxPolicy, TroupeError } from '../../src/contracts/index.ts'
import { mergeSandbox } from '../../src/policy/merge-sandbox.ts'
import { isRulePattern } from '../../src/policy/rule-pattern.ts'
import { rulePatternProblem } from '../../src/policy/tool-name-problems.ts'
import { readConfigFile } from '../../src/project/config/read-config-file.ts'
import { configProblems } from '../../src/runtime/validation/check-config.ts'
import { restrictPolicy } from '../../src/steps/approval/agent-confinement.ts'
import { checkHooks } from '../../src/tools/hooks/index.ts'

const numRuns = process.env.TROUPE_FULL ? 2_000 : 400

// Files are read where nobody knows the runtime; these keep the two of one mind.

test('hook settings of a file are also available to programs, and vice versa', () => {
  const guard = { name: 'a', on: ['before_call'], command: ['./a'], onFailure: 'closed' }
  const texts = fc.constantFrom('', ' ', 'a', './a', 'a\0')
  const points = fc.constantFrom('before_call', 'after_call', 'before_request', 'at_stop', 'sometimes')
  const changed = fc.record(
    {
      name: fc.oneof(texts, fc.constant(7)),
      on: fc.oneof(fc.array(points, { maxLength: 2 }), points),
      tools: fc.oneof(fc.array(texts, { maxLength: 2 }), texts),
      // An empty argument can only be given: no text of a configuration is empty.
      command: fc.oneof(fc.array(fc.constantFrom('a', './a', 'a\0'), { maxLength: 2 }), texts),
      module: fc.oneof(texts, fc.constant(7)),
      onFailure: fc.constantFrom('open', 'closed', 'maybe', true),
      timeout: fc.constantFrom('30s', '1h', '61m', '0s', '1.5ms', '1.5s', 'soon', 1, 0, 0.5, -1, 3_600_000, 3_600_001, true, []),
      tool: texts,
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(changed, fc.subarray(Object.keys(guard)), (more, without) => {
      const hook: object = Object.fromEntries(Object.entries({ ...guard, ...more }).filter(([key]) => !without.includes(key)))
      const written = problemsOf({ hooks: [hook] })
      const given = checkHooks([hook], 'hooks')
      expect([written.length > 0, hook]).toEqual([given.length > 0, hook])
      for (const { remedy } of [...written, ...given]) expect(remedy).toMatch(/\S/)
    }),
    {
      numRuns,
      examples: [
        [{ timeout: 30 }, []],
        [{ module: './a' }, ['command']],
      ],
    },
  )
})

function problemsOf(config: object): readonly Problem[] {
  try {
    readConfigFile(JSON.stringify(config), { path: '/x.json', role: 'settings', layer: 'user', isRequired: false })
    return []
  } catch (error) {
    if (error instanceof TroupeError) return error.problems
    throw error
  }
}

test('whatever a file may say as a pattern, the runtime takes', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'Z', '_', '*', '/', '.', '-', '(', ')', ' ', '\n', '\0', 'é'), maxLength: 9 })
  fc.assert(
    fc.property(letters, (written) => {
      if (!isRulePattern(written)) return
      const agent = { name: 'a', description: 'x', prompt: 'x', model: 'a/b', tools: [], approvals: [{ deny: written }] }
      // Only what can match nothing is refused, by both.
      const isIdle = rulePatternProblem(written, { tools: ['agent__a'], sources: [] }) !== undefined
      expect(configProblems({ agents: [agent] }).length > 0).toBe(isIdle)
    }),
    { numRuns, examples: [['shell(a)'], ['shell(a)b)'], ['shell()'], ['a/*(x\ny)']] },
  )
})

test('layers of a configuration are held against each other as an agent is against its session', () => {
  const names = (...of: readonly string[]) => fc.uniqueArray(fc.constantFrom(...of))
  const policy = {
    mode: fc.constantFrom('required' as const, 'off' as const),
    hosts: names('a.example', '*.example', 'x.a.example', '*.a.example', '10.0.0.1', '*.0.0.1', '::1'),
    privateHosts: names('a.example', '*.example', 'x.a.example'),
    writable: names('/srv', '/', '/srv/below'),
    environment: names('A', 'B', 'C'),
    memory: fc.integer({ min: 1, max: 9 }),
    processes: fc.integer({ min: 1, max: 9 }),
  }
  const sorted = (of: SandboxPolicy) => ({ ...of, hosts: of.hosts.toSorted(), privateHosts: of.privateHosts.toSorted() })
  fc.assert(
    fc.property(fc.record(policy), fc.record(policy, { requiredKeys: [] }), (session, agent) => {
      const stated = { ...defaultSandboxPolicy, ...session, ...mergeSandbox(session, agent) }
      expect(sorted(stated)).toEqual(sorted(restrictPolicy(session, agent)))
    }),
    { numRuns },
  )
})
