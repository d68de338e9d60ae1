import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BuilderAgentExtension } from '../../../extensions/builder_agent/main.ts'
import type { ExtensionAdmin, ExtensionProblem, ExtensionStatus, JsonObject } from '../../../src/contracts/index.ts'
import { callTool, extensionContext, temporaryFolder } from '../extension-context.ts'

const weather: ExtensionStatus = {
  id: 'weather',
  name: 'Weather',
  version: '1.0.0',
  description: 'Tells the\nweather.\n',
  state: 'failed',
  source: 'project',
  runs: 'nowhere',
  trusted: false,
  capabilities: ['tools'],
  problems: [{ place: 'main.ts', message: 'it threw', remedy: 'Fix it.' }],
}

function openBuilder(problems: readonly ExtensionProblem[] = [], missing?: string) {
  const folder = join(temporaryFolder(), 'extensions')
  const extensions: ExtensionAdmin = { folder, list: () => [weather], validate: async () => problems, sandboxProblem: async () => missing }
  const { context, recorded } = extensionContext({ extensions })
  const builder = new BuilderAgentExtension()
  builder.initialize(context)
  const tools = builder.getTools()
  return { folder, tools, recorded, call: (name: string, input: JsonObject = {}) => callTool(tools, name, input) }
}

it('has the tools that its instructions name', () => {
  const { tools } = openBuilder()
  expect(tools.map(({ name }) => name)).toEqual([
    'list_files',
    'search_files',
    'read_file',
    'write_file',
    'edit_file',
    'apply_patch',
    'shell',
    'list_extensions',
    'validate_extension',
    'request_restart',
  ])
  const prompt = readFileSync('extensions/builder_agent/prompts/builder.jinja2', 'utf8')
  const named = [...prompt.matchAll(/`builder_agent__(\w+)`/g)].map(([, name = '']) => name)
  expect(named.filter((name) => !tools.some((tool) => tool.name === name))).toEqual([])
})

it('writes inside the folder of the extensions only, which it creates', async () => {
  const { folder, call } = openBuilder()
  expect(await call('write_file', { path: 'weather/manifest.yaml', content: 'id: weather\n' })).toMatchObject({ ok: true })
  expect(readFileSync(join(folder, 'weather/manifest.yaml'), 'utf8')).toBe('id: weather\n')
  expect(await call('write_file', { path: '../outside.txt', content: 'x' })).toMatchObject({ ok: false })
  expect(existsSync(join(folder, '../outside.txt'))).toBe(false)
})

it('lists extensions with their problems', async () => {
  expect(await openBuilder().call('list_extensions')).toEqual({
    ok: true,
    content: 'weather (project, failed, tools): Tells the weather.\n  main.ts: it threw (Fix it.)',
  })
})

it('validates', async () => {
  expect(await openBuilder().call('validate_extension', { id: 'weather' })).toMatchObject({
    ok: true,
    content: expect.stringContaining('weather is valid'),
  })
  const sandboxless = openBuilder([], 'bubblewrap is missing.')
  expect(await sandboxless.call('validate_extension', { id: 'weather' })).toEqual({
    ok: true,
    content:
      'weather is valid. It is not loaded before the person has read its files and run: troupe extensions trust weather. The reason: bubblewrap is missing.',
  })
  const problems = [{ place: 'manifest.yaml:2:1', message: 'unknown key `nme`', remedy: 'Did you mean `name`?' }]
  expect(await openBuilder(problems).call('validate_extension', { id: 'weather' })).toMatchObject({
    ok: false,
    error: { message: 'weather has a problem:\nmanifest.yaml:2:1: unknown key `nme` (Did you mean `name`?)' },
  })
})

it('requests a restart', async () => {
  const { call, recorded } = openBuilder()
  expect(await call('request_restart', { reason: 'New extension weather' })).toMatchObject({ ok: true })
  expect(recorded.restarts).toEqual(['New extension weather'])
})

it('cannot run outside of the kernel', () => {
  expect(() => new BuilderAgentExtension().initialize(extensionContext().context)).toThrow('must run inside the kernel')
})
