import { expect, it } from 'vitest'
import type { Tool } from '../../src/contracts/index.ts'
import { objectSchema, tool } from '../acceptance/support.ts'
import { no, play } from './approval-stage.ts'

it('leaving the sandbox says what would run', async () => {
  const blocked: Tool = {
    ...tool('shell', { schema: objectSchema({ command: { type: 'string' } }) }),
    execute: () => ({ ok: false, error: { class: 'sandbox', message: 'no network inside' } }),
  }
  const sandbox = { confinement: { kind: 'sandbox', name: 'box' } } as const
  const { asked } = await play([{ tool: 'shell', input: { command: 'curl a #\nrm b' } }], { sandbox, tools: [blocked], decide: () => no() })
  expect(asked.map(({ summary }) => summary)).toEqual(['Run shell again outside the sandbox: {"command":"curl a #\\nrm b"}'])
})
