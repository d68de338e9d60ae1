import { expect, it } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { ScriptedModel } from '../../src/testing/index.ts'
import { tool } from '../runtime/helpers.ts'

const asking: Partial<Tool> = { approval: () => ({ summary: 'Do it', keys: [{ key: 'a:b', label: 'b' }] }) }

it('has the prompt, and of each tool its description and whether it needs approval', async () => {
  const agents = [
    {
      name: 'lead',
      description: 'Leads',
      prompt: 'The key is sk-very-secret-key.',
      model: 'any',
      tools: ['*'],
      agents: ['clerk'],
      approvals: [{ ask: 'look_up' }, { allow: 'remove' }],
    },
    { name: 'clerk', description: 'Looks things up', prompt: 'You are a clerk.', model: 'any', tools: ['look_*', 'git/*'], infer: false },
  ]
  const runtime = createAgentRuntime({
    adapter: new ScriptedModel([]),
    config: {
      agents,
      overlay: { KEY: 'sk-very-secret-key' },
      tools: [
        tool('look_up'),
        tool('change', asking),
        tool('remove', asking),
        tool('publish', asking),
        tool('read', { ...asking, asksByRuleOnly: true }),
        tool('list', { ...asking, asksByRuleOnly: true }),
        tool('count'),
        { name: 'git', open: () => ({ list: async () => [] }) },
      ],
      approvals: { rules: [{ deny: 'publish' }, { ask: 'read(secret*)' }] },
    },
  })
  const setup = await runtime.sessions.agentSetup('lead')
  expect(setup.prompt).not.toContain('secret')
  expect(setup.tools.map(({ name, description, approval }) => [name, description, approval])).toEqual([
    ['change', 'does change', 'depends'],
    ['count', 'does count', 'none'],
    ['list', 'does list', 'none'],
    ['look_up', 'does look_up', 'ask'],
    ['publish', 'does publish', 'deny'],
    ['read', 'does read', 'depends'],
    // The rules of an agent can only be stricter.
    ['remove', 'does remove', 'depends'],
  ])
  expect(await runtime.sessions.agentSetup('clerk')).toEqual({
    prompt: 'You are a clerk.',
    tools: [{ name: 'look_up', description: 'does look_up', approval: 'none' }],
    sources: ['git'],
  })
  await expect(runtime.sessions.agentSetup('clerc')).rejects.toMatchObject({
    code: 'agent_unknown',
    remedy: expect.stringContaining('clerk'),
  })
  await runtime.close()
})
