import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { FileManagerExtension } from '../../../extensions/file_manager/main.ts'
import { ShellExtension } from '../../../extensions/shell_exec/main.ts'
import type { Tool } from '../../../src/contracts/index.ts'
import { callTool, extensionContext } from '../extension-context.ts'

it.each([
  [new FileManagerExtension(), ['list_files', 'search_files', 'read_file', 'write_file', 'edit_file', 'apply_patch']],
  [new ShellExtension(), ['shell']],
])('%o offers built-in tools unchanged, with their approvals and sandbox', (extension, names) => {
  const given: Tool[] = []
  const { context } = extensionContext()
  const builtinTools: typeof context.builtinTools = (...request) => {
    const tools = context.builtinTools(...request)
    given.push(...tools)
    return tools
  }
  extension.initialize({ ...context, builtinTools })
  const tools = extension.getTools()
  expect(tools.map(({ name }) => name)).toEqual(names)
  expect(tools.filter((tool, index) => tool !== given[index])).toEqual([])
  expect(tools.filter(({ effect, approval }) => effect !== 'read' && approval === undefined)).toEqual([])
})

it('writes and reads files of the project', async () => {
  const { context } = extensionContext()
  const extension = new FileManagerExtension()
  extension.initialize(context)
  mkdirSync(join(context.workspace, 'docs'))
  expect(await callTool(extension.getTools(), 'write_file', { path: 'docs/a.txt', content: 'hello\n' })).toMatchObject({ ok: true })
  expect(readFileSync(join(context.workspace, 'docs/a.txt'), 'utf8')).toBe('hello\n')
  expect(await callTool(extension.getTools(), 'read_file', { path: 'docs/a.txt' })).toMatchObject({
    ok: true,
    content: expect.stringContaining('hello'),
  })
  expect(await callTool(extension.getTools(), 'read_file', { path: '../data/x' })).toMatchObject({ ok: false })
})
