import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isApprovalPattern, toolOfPattern } from '../../src/agents/approval-pattern.ts'
import { hookPoints } from '../../src/agents/config/hook-shape.ts'
import { defaultSandboxPolicy, type SandboxPolicy } from '../../src/contracts/index.ts'
import { resolveConfig } from '../../src/runtime/resolve-config.ts'
import { tightened } from '../../src/steps/confinement.ts'
import { partsOfPattern } from '../../src/steps/index.ts'
import { hookPoints as askedAt } from '../../src/tools/hooks/hook-definition.ts'
import { stricterSandbox } from '../../src/util/stricter-sandbox.ts'

// Files are read where nobody knows the runtime; these keep the two of one mind.

test('hooks are asked at the same points', () => {
  expect(hookPoints).toEqual(askedAt)
})

test('whatever a file may say as a pattern, the runtime takes, and means the same tool', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'Z', '_', '*', '/', '.', '-', '(', ')', ' ', '\n', '\0', 'é'), maxLength: 9 })
  fc.assert(
    fc.property(letters, (written) => {
      if (!isApprovalPattern(written)) return
      const agent = { name: 'a', description: 'x', prompt: 'x', model: 'a/b', tools: [], approvals: [{ deny: written }] }
      expect(() => resolveConfig({ agents: [agent] })).not.toThrow()
      expect(toolOfPattern(written)).toBe(partsOfPattern(written).tool)
    }),
    { numRuns: 2000, examples: [['shell(a)'], ['shell(a)b)'], ['shell()'], ['a/*(x\ny)']] },
  )
})

test('layers of a configuration are held against each other as an agent is against its session', () => {
  const names = (...of: readonly string[]) => fc.uniqueArray(fc.constantFrom(...of))
  const policy = {
    mode: fc.constantFrom('required' as const, 'off' as const),
    hosts: names('a.example', '*.example', 'x.a.example', '*.a.example', '10.0.0.1', '*.0.0.1', '::1'),
    writable: names('/srv', '/', '/srv/below'),
    environment: names('A', 'B', 'C'),
    memory: fc.integer({ min: 1, max: 9 }),
    processes: fc.integer({ min: 1, max: 9 }),
  }
  const sorted = (of: SandboxPolicy) => ({ ...of, hosts: of.hosts.toSorted() })
  fc.assert(
    fc.property(fc.record(policy), fc.record(policy, { requiredKeys: [] }), (session, agent) => {
      const stated = { ...defaultSandboxPolicy, ...session, ...stricterSandbox(session, agent) }
      expect(sorted(stated)).toEqual(sorted(tightened(session, agent)))
    }),
    { numRuns: 2000 },
  )
})
