import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { workspaceTools } from '../../../src/acting.ts'
import { builtinToolNames } from '../../../src/agents/index.ts'
import { world } from '../../acceptance/support.ts'

it('offers exactly the tools that an agent file may name', () => {
  const { tools } = workspaceTools({ workspace: tmpdir() })
  expect(tools.map(({ name }) => name).toSorted()).toEqual([...builtinToolNames].toSorted())
})

it('lets an embedded agent act in its folder, once that is approved', async () => {
  const workspace = await mkdtemp(join(tmpdir(), 'kit-'))
  const { tools, sandbox } = workspaceTools({ workspace })
  const { runtime } = world({
    tools,
    sandbox,
    approver: { decide: ({ tool }) => ({ decision: { kind: 'approve', breadth: 'once' }, by: `policy for ${tool}` }) },
    steps: [{ calls: [{ tool: 'write_file', input: { path: 'a.txt', content: 'hello\n' } }] }, { text: 'Written.' }],
  })
  expect(await runtime.run('Write it')).toMatchObject({ status: 'completed', report: { text: 'Written.' } })
  expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('hello\n')
})
