import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { builtinToolNames } from '../../../src/policy/builtin-tool-names.ts'
import { type WorkspaceOptions, workspaceTools } from '../../../src/tools.ts'
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

it('reports all problems of the folder and the options together', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kit-'))
  await writeFile(join(folder, 'a.txt'), '')
  const told = (options: object) => {
    try {
      workspaceTools(options as WorkspaceOptions)
      return expect.unreachable()
    } catch (error) {
      return error
    }
  }
  expect(told({ workspace: 'rel/path', polcy: {} })).toMatchObject({
    name: 'TroupeError',
    code: 'config_invalid',
    problems: [
      { place: 'polcy', message: 'unknown option', remedy: 'Did you mean "policy"?' },
      {
        place: 'workspace',
        message: 'expected the absolute path of a folder, found "rel/path"',
        remedy: `From the current folder that is "${resolve('rel/path')}".`,
      },
    ],
  })
  for (const [workspace, message] of [
    [undefined, 'found nothing'],
    ['', 'found ""'],
    [join(folder, 'nowhere'), 'which does not exist'],
    [join(folder, 'a.txt'), 'which is not a folder'],
    [join(folder, 'a.txt', 'b'), 'which does not exist'],
  ])
    expect(told({ workspace })).toMatchObject({ problems: [{ place: 'workspace', message: expect.stringContaining(message ?? '') }] })
})
