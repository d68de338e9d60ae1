import { describe, expect, it } from 'vitest'
import { defaultSandboxPolicy, type SandboxPolicy } from '../../contracts/index.ts'
import type { AgentOptionKey } from '../options/agent-options.ts'
import type { OptionValue } from '../options/option-values.ts'
import { ineffectiveSettings } from './ineffective-settings.ts'

describe('lists of an agent that its session does not allow', () => {
  const session: SandboxPolicy = {
    ...defaultSandboxPolicy,
    hosts: ['*.example.com'],
    writable: ['/data/out', '/team/w'],
    environment: ['CI'],
  }
  const told = (said: { readonly [Key in AgentOptionKey]?: unknown }, policy = session, precedence: OptionValue['precedence'] = 'file') => {
    const values = new Map(Object.entries(said).map(([key, value]) => [key as AgentOptionKey, { value, precedence, place: `a.ai ${key}` }]))
    return ineffectiveSettings(values, { policy, file: '/team', over: '/here' }).map(({ place, message }) => `${place}: ${message}`)
  }

  it('are reported entry by entry', () => {
    expect(told({ 'sandbox.hosts': ['api.example.com', 'b.test'], 'sandbox.environment': ['CI', 'KEY'] })).toEqual([
      'a.ai sandbox.hosts: `sandbox.hosts` names "b.test", which the session does not allow',
      'a.ai sandbox.environment: `sandbox.environment` names "KEY", which the session does not allow',
    ])
  })

  it('are not reported if they are narrower; folders are relative to the file that names them', () => {
    const said = { 'sandbox.writable': ['/data/out/a', './w', '/data'] }
    const whole = '`sandbox.writable` names "/data", which the session does not fully allow'
    expect(told(said)).toEqual([`a.ai sandbox.writable: ${whole}`])
    expect(told(said, session, 'override')).toEqual([
      'a.ai sandbox.writable: `sandbox.writable` names "./w", which the session does not allow',
      `a.ai sandbox.writable: ${whole}`,
    ])
  })

  it('have no effect without a sandbox, unless the agent requires one', () => {
    const off = { ...session, mode: 'off' } as const
    expect(told({ 'sandbox.hosts': ['b.test'] }, off)).toEqual([])
    expect(told({ 'sandbox.hosts': ['b.test'], 'sandbox.mode': 'required' }, off)).toHaveLength(1)
  })
})
