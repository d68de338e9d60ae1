import { expect, it } from 'vitest'
import { defaultSandboxPolicy } from '../../src/contracts/index.ts'
import { journalOf, ofType, world } from '../acceptance/support.ts'

const sandboxWith = (mode: 'required' | 'off') =>
  ({ confinement: { kind: 'sandbox', name: 'test', policy: { ...defaultSandboxPolicy, mode } } }) as const

it.each(['required', 'off'] as const)('a sandbox that is %s: the journal says so where it was switched off', async (mode) => {
  const { runtime, store } = world({ steps: [{ text: 'Done.' }], sandbox: sandboxWith(mode) })
  const outcome = await runtime.run('go')
  const told = ofType(await journalOf(store, outcome.sessionId), 'interaction.diagnostic').map(({ diagnostic }) => diagnostic.code)
  expect(told).toEqual(mode === 'off' ? ['sandbox_off'] : [])
  expect(outcome.diagnostics.map(({ code }) => code)).toEqual(told)
})
