// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders are written like that
// `mcpServers` in the configuration of a program.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Approver } from '../../src/contracts/index.ts'
import { createAgentRuntime, type RuntimeOptions } from '../../src/runtime/index.ts'
import { resolveConfig } from '../../src/runtime/parts/resolve-config.ts'
import { mcpHostOf, ServerSources } from '../../src/runtime/parts/server-sources.ts'
import { ScriptedModel, type ScriptedStep } from '../../src/testing/index.ts'
import { until } from '../hooks/processes.ts'
import { realClock } from './support.ts'

const folder = join(import.meta.dirname, '../../examples/11-mcp')
const library = { command: process.execPath, args: ['library-server.mjs'], env: { LIBRARY: '${LIBRARY:-the town library}' } }
const clerk = { name: 'clerk', description: 'Lends books', prompt: 'You lend books.', model: 'any' }
const approveAll: Approver = { decide: () => ({ decision: { kind: 'approve', breadth: 'once' }, by: 'test' }) }
const mcp = { workspace: folder }

function runtimeWith(config: Partial<RuntimeOptions['config']>, steps: readonly ScriptedStep[]) {
  const model = new ScriptedModel([...steps])
  const runtime = createAgentRuntime({
    config: { agents: [clerk], ...config },
    adapter: model,
    approver: approveAll,
    clock: realClock,
    mcp,
  })
  return { runtime, model }
}

const lend: ScriptedStep = { calls: [{ tool: 'library__lend_book', input: { id: 'b1', to: 'Ada' } }] }

describe('servers in programs', () => {
  it.each([
    ['eager', 'without a session', true],
    ['lazy', 'not without a session', false],
  ] as const)('with `connect: %s` start %s', async (connect, _, isStarted) => {
    const file = join(mkdtempSync(join(tmpdir(), 'troupe-eager-')), 'started')
    const server = { command: process.execPath, args: ['-e', 'fs.writeFileSync(process.env.STARTED, "")'], env: { STARTED: file } }
    // The eager server is the sign that a lazy one has had the time to start.
    const other = `${file}-other`
    const { runtime } = runtimeWith(
      { mcpServers: { server: { ...server, connect }, other: { ...server, env: { STARTED: other }, connect: 'eager' } } },
      [],
    )
    await until(() => existsSync(other) && (!isStarted || existsSync(file)))
    await runtime.close()
    expect(existsSync(file)).toBe(isStarted)
  })

  it('do not keep a program alive that never closes its runtime', () => {
    const script = `
      import { createAgentRuntime } from 'troupe'
      import { ScriptedModel } from 'troupe/testing'
      const config = ${JSON.stringify({ agents: [clerk], mcpServers: { library }, approvals: { rules: [{ allow: 'library/*' }] } })}
      const adapter = new ScriptedModel(${JSON.stringify([lend, { text: 'Done.' }])})
      const { status } = await createAgentRuntime({ config, adapter, mcp: ${JSON.stringify(mcp)} }).run('Lend it')
      process.stdout.write(status)`
    const args = ['--input-type=module', '--eval', script]
    expect(execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8', timeout: 30_000 })).toBe('completed')
  })

  it('are used by the agents that list their tools, with the overlay of the session', async () => {
    const { runtime, model } = runtimeWith({ mcpServers: { library } }, [lend, { text: 'Done.' }])
    const { status } = await runtime.run('Lend it', { overlay: { LIBRARY: 'the school' } })
    await runtime.close()
    expect(status).toBe('completed')
    expect(model.requests[0]?.tools?.map(({ name }) => name)).toEqual([
      'library__find_books',
      'library__lend_book',
      'library__read_resource',
    ])
    expect(JSON.stringify(model.requests[0])).toContain('Find a book before you lend it.')
    expect(JSON.stringify(model.requests[1])).toContain('The Sea Around Us is lent to Ada by the school')
  })

  it('of one agent are not offered to others, and replace those of the session', async () => {
    const own = { ...library, tools: { allow: ['lend_*'] } }
    const agents = [
      { ...clerk, mcpServers: { library: own } },
      { ...clerk, name: 'reader', tools: ['library/find_books'] },
    ]
    const { runtime, model } = runtimeWith({ agents, mcpServers: { library } }, [{ text: 'One.' }, { text: 'Two.' }])
    await runtime.run('Hello', { agent: 'clerk' })
    await runtime.run('Hello', { agent: 'reader' })
    await runtime.close()
    expect(model.requests.map(({ tools = [] }) => tools.map(({ name }) => name))).toEqual([['library__lend_book'], ['library__find_books']])
  })

  it('with a missing variable cost only their own tools, unless they are required', async () => {
    const broken = { ...library, env: { LIBRARY: '${LIBRARY}' } }
    const { runtime } = runtimeWith({ mcpServers: { library, broken } }, [{ text: 'Fine.' }])
    const handle = runtime.stream('Hello')
    const said: string[] = []
    for await (const event of handle) if (event.type === 'interaction.diagnostic') said.push(event.diagnostic.message)
    await runtime.close()
    expect(said.join()).toMatch(/broken.*LIBRARY/)
    const { runtime: strict } = runtimeWith({ mcpServers: { broken: { ...broken, required: true } } }, [])
    expect(await strict.run('Hello')).toMatchObject({ status: 'failed' })
    await strict.close()
  })

  it('stay the same source while their definition does not change', () => {
    const servers = new ServerSources(mcpHostOf({ mcp }, realClock))
    const sourcesOf = (definition: object) =>
      resolveConfig({ agents: [clerk], mcpServers: { library: definition as typeof library } }, servers)
    const [first] = sourcesOf(library).sessionSources
    expect(sourcesOf(structuredClone(library)).sessionSources[0]).toBe(first)
    expect(sourcesOf({ ...library, timeout: 5 }).sessionSources[0]).not.toBe(first)
    expect(sourcesOf({ ...library, queue: { concurrent: 2 } }).queues).toEqual({ library: { concurrent: 2 } })
  })

  it.each([
    ['a name with __', { a__b: library }, 'config.mcpServers.a__b: this name is not valid. Use up to 40 letters'],
    ['both kinds', { a: { ...library, url: 'https://a.example' } }, 'config.mcpServers.a.url: it has both `command` and `url`'],
    ['no kind', { a: {} }, 'config.mcpServers.a.type: it has neither `command` nor `url`'],
    [
      'a key of the other kind',
      { a: { url: 'https://a.example', env: {} } },
      'config.mcpServers.a.env: it has `env`, which has no effect with `url`',
    ],
    ['an unknown key', { a: { ...library, comand: 'x' } }, 'config.mcpServers.a.comand: unknown key. Did you mean "command"?'],
    ['a wrong value', { a: { ...library, connect: 'soon' } }, 'config.mcpServers.a.connect: expected one of lazy, eager, found "soon"'],
    ['a secret', { a: { ...library, env: { KEY: 7 } } }, 'config.mcpServers.a.env.KEY: expected text, found a value of type number'],
    ['a sandbox mode', { a: { ...library, sandbox: { mode: 'off' } } }, 'config.mcpServers.a.sandbox.mode: unknown key'],
    ['no object', { a: 7 }, 'config.mcpServers.a: expected an object, found a value of type number'],
  ])('are checked: %s', (_, mcpServers, message) => {
    expect(() => runtimeWith({ mcpServers: mcpServers as never }, [])).toThrow(message)
  })
})
