import { mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AnyExtension, ExtensionContext } from '../../contracts/index.ts'
import { withoutSupervisor } from '../supervisor/index.ts'
import type { KernelPorts } from './extension-context.ts'
import { foundExtension, type TestKernel, testKernel, testProject } from './fixtures/test-kernel.ts'

let project: ReturnType<typeof testProject>
beforeEach(() => {
  project = testProject()
})
afterEach(() => project.remove())

type Given = Parameters<typeof foundExtension>[1]

async function opened(
  manifest: Given = {},
  { code = {}, trusted = true, ports = {} }: { code?: AnyExtension; trusted?: boolean; ports?: Partial<KernelPorts> } = {},
): Promise<{ context: ExtensionContext; kernel: TestKernel }> {
  const contexts: ExtensionContext[] = []
  const kernel = testKernel(
    [foundExtension('e', manifest, { trusted }), foundExtension('dep'), foundExtension('other')],
    { e: { ...code, initialize: (given) => void contexts.push(given) }, dep: { getContext: () => undefined } },
    { dataFolder: join(project.root, 'data'), ports },
  )
  await kernel.loader.load()
  await kernel.loader.start()
  const [context] = contexts
  if (!context) throw new Error(kernel.messages('e').join())
  return { context, kernel }
}

test('what it knows', async () => {
  const { context } = await opened({ config: { a: 1, b: 2 } }, { ports: { storedConfig: () => ({ b: 3 }) } })
  expect(context).toMatchObject({ id: 'e', folder: '/e/e', workspace: '/workspace', config: { a: 1, b: 3 }, resolvedTools: [] })
  expect(context.dataDir).toBe(join(project.root, 'data/e'))
  expect(statSync(context.dataDir).mode & 0o777).toBe(0o700)
  expect(context.now()).toBe(Date.UTC(2026, 0, 1))
})

test('a restart that is refused is a problem of the extension', async () => {
  const supervisor = { ...withoutSupervisor, requestRestart: () => Promise.reject(new Error('too often')) }
  const { context, kernel } = await opened({}, { ports: { supervisor } })
  await expect(context.requestRestart('again')).rejects.toThrow('too often')
  expect(kernel.messages('e')).toEqual([expect.stringContaining('its request of a restart failed: too often')])
})

describe('only what is declared', () => {
  test('secrets', async () => {
    const { context } = await opened({ secrets: ['SET', 'UNSET'] })
    expect(context.secret('SET')).toBe('value')
    expect(() => context.secret('UNSET')).toThrow('e: the secret UNSET is not set')
    expect(() => context.secret('OTHER')).toThrow('e: the secret OTHER is not declared')
  })

  test('extensions and their agents', async () => {
    const { context } = await opened({ dependsOn: ['dep'] })
    expect(context.getExtension('dep')).toHaveProperty('getContext')
    expect(() => context.getExtension('other')).toThrow('e: `other` is not in `depends_on`')
    expect(await context.invokeAgent('dep', 'x')).toMatchObject({ content: 'dep was asked x' })
    await expect(context.invokeAgent('other', 'x')).rejects.toThrow('`other` is not in `depends_on`')
  })

  test('its own agent', async () => {
    const { context } = await opened({ agent: {} })
    expect(await context.startAgent('x')).toMatchObject({ content: 'e did x' })
    const without = await opened()
    await expect(without.context.startAgent('x')).rejects.toThrow('e: it has no agent to start')
  })

  test('messages of people, for channels', async () => {
    const { context, kernel } = await opened({}, { code: { sendToUser: () => {} } })
    await context.onUserMessage({ userId: 'u', text: 'hello' })
    expect(kernel.log.at(-1)).toBe('receive e hello')
    const without = await opened()
    await expect(without.context.onUserMessage({ userId: 'u', text: 'x' })).rejects.toThrow('e: only channels hand in messages')
  })

  test('tools for folders of the project', async () => {
    const { context, kernel } = await opened()
    context.builtinTools(['read_file'], { folder: 'docs' })
    expect(kernel.log.at(-1)).toBe('builtin read_file /workspace/docs')
    for (const folder of ['/etc', '..', 'docs/../../x'])
      expect(() => context.builtinTools(['read_file'], { folder })).toThrow('is outside the project')
  })

  test('no tools for a folder that is a link', async () => {
    const { context, kernel } = await opened({}, { ports: { workspace: project.root } })
    project.write('docs/a', '')
    mkdirSync(join(project.root, '.git/hooks'), { recursive: true })
    symlinkSync('.git/hooks', join(project.root, 'extensions'))
    expect(() => context.builtinTools(['write_file'], { folder: 'extensions' })).toThrow('is a link')
    context.builtinTools(['read_file'], { folder: 'docs' })
    expect(kernel.log.at(-1)).toBe(`builtin read_file ${project.root}/docs`)
  })
})

test('an untrusted extension gets no secrets, no instances, no built-in tools, no terminal', async () => {
  const terminal = { input: (async function* () {})(), write: () => {} }
  const { context } = await opened({ secrets: ['SET'], dependsOn: ['dep'] }, { trusted: false, ports: { terminal } })
  expect(() => context.secret('SET')).toThrow('e: a secret is for trusted extensions only')
  expect(() => context.getExtension('dep')).toThrow('for trusted extensions only')
  expect(() => context.builtinTools(['shell'])).toThrow('for trusted extensions only')
  expect([context.extensions, context.terminal]).toEqual([undefined, undefined])
  const trusted = await opened({}, { ports: { terminal } })
  expect([trusted.context.extensions?.folder, trusted.context.terminal]).toEqual(['/extensions', terminal])
})

test('events, notices and restarts carry its id', async () => {
  const { context, kernel } = await opened()
  const seen: string[] = []
  const end = context.subscribe('price', (event) => void seen.push(event.name))
  context.subscribe('other', () => void seen.push('never'))
  await kernel.emit('price')
  end()
  end()
  await kernel.emit('price')
  await context.publish('checked', { ok: true })
  await context.notifyUser('hi', { channel: 'cli', userId: 'u' })
  await context.requestRestart('new code')
  expect(seen).toEqual(['price'])
  expect(kernel.notices).toEqual([{ text: 'hi', speaker: 'e', to: { channel: 'cli', userId: 'u' } }])
  expect(kernel.log.slice(-3)).toEqual(['e event price', 'publish checked e {"ok":true}', 'restart e: new code'])
})

test('after the stop it does nothing more', async () => {
  const { context, kernel } = await opened({ secrets: ['SET'] }, { code: { sendToUser: () => {} } })
  context.subscribe('x', () => {})
  await kernel.loader.stop()
  expect(kernel.subscribers.size).toBe(0)
  const stopped = 'the extension `e` is stopped'
  expect(() => context.subscribe('x', () => {})).toThrow(stopped)
  expect(() => context.secret('SET')).toThrow(stopped)
  for (const late of [
    () => context.publish('x', null),
    () => context.notifyUser('x'),
    () => context.onUserMessage({ userId: 'u', text: 'x' }),
    () => context.startAgent('x'),
    () => context.requestRestart('x'),
    () => context.schedules.cancel('x'),
  ])
    await expect(late()).rejects.toThrow(stopped)
})
