import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { parseArguments } from '../../src/cli/arguments/parse-arguments.ts'
import { endSessions } from '../../src/cli/commands/approvals/end-sessions.ts'
import { startRun } from '../../src/cli/commands/run/start-run.ts'
import type { DriverId, Journal, TreeId } from '../../src/contracts/index.ts'
import { createAgentRuntime } from '../../src/runtime/index.ts'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { type Call, makeAgent, makeProject, sessionIdOf, troupeIn, variablesIn } from './in-process.ts'
import { workbench } from './troupe.ts'

const { folder } = await workbench()
const before = process.cwd()
const env = variablesIn(folder)
const troupe = (cwd: string, words: readonly string[]) => troupeIn(cwd, words, env)
beforeAll(async () => {
  vi.stubEnv('HOME', folder)
  // Commands are asked about where they can run, and this machine may have no sandbox.
  await mkdir(join(folder, '.ai-agent'))
  await writeFile(join(folder, '.ai-agent', '.ai-agent.json'), '{ "sandbox": { "mode": "off" } }')
})
afterAll(() => {
  vi.unstubAllEnvs()
  process.chdir(before)
})

const writing = (path: string): Call => ({ tool: 'write_file', input: { path, content: 'text' } })

/** A run that waits, in a project of its own. */
async function waiting(name: string, [first, ...later]: readonly Call[], flags: readonly string[] = []) {
  const place = join(folder, name)
  await makeProject(place)
  await makeAgent(place, first ? [first] : [], { later })
  await writeFile(join(place, 'strict.json'), JSON.stringify({ approvals: { rules: [{ deny: 'write_file(*b.txt)' }] } }))
  const at = (words: readonly string[]) => troupe(place, words)
  const id = sessionIdOf(await at(['run', 'w.ai', 'Go', '--json', '-q', ...flags]))
  return { place, id, at, has: (file: string): boolean => existsSync(join(place, file)) }
}

/** The words of a command as a shell would take them, without the first. */
const wordsOf = (command: string): readonly string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '').slice(1)

describe('what is asked', () => {
  test('is shown in full: every line and every argument, and nothing that steers a terminal', async () => {
    const { at, id } = await waiting('shown', [
      { tool: 'shell', input: { command: 'echo safe #\ntouch pwned', cwd: 'sub', stdin: 'y\u001b[2J\n' } },
    ])
    const { stdout } = await at(['approvals', 'list'])
    expect(stdout.split('\n').slice(1)).toEqual([
      '  ? Run echo safe # ⏎ touch pwned  shell',
      '    command │ echo safe #',
      '            │ touch pwned',
      '    cwd     │ sub',
      '    stdin   │ y<U+001B>[2J',
      '            │',
      '    y yes · n no · no REASON deny with a reason · x no, and end the run',
      '    s for this session, p for this project:',
      '      │ (in sub) exactly this: echo safe #',
      '      │   touch pwned < "y\\u001b[2J\\n"',
      '    s1 p1 any call of shell',
      `    troupe approvals answer ${id} yes`,
      `  troupe run w.ai --resume ${id}`,
      '',
    ])
    expect((await at(['approvals', 'answer', id, 'no'])).stdout).toBe('Answered: Run echo safe # ⏎ touch pwned\n')
  })

  test('a file whose name steers a terminal is named by its bytes', async () => {
    const place = join(folder, 'steering')
    await makeProject(place)
    await makeAgent(place, [writing('a.txt')], { name: 'w\u001b[31m\nx' })
    const id = sessionIdOf(await troupe(place, ['run', 'w\u001b[31m\nx.ai', 'Go', '--json', '-q']))
    const { stdout } = await troupe(place, ['approvals', 'list'])
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toContain(`  troupe run $'w\\x1b[31m\\x0ax.ai' --resume ${id}\n`)
    expect((await troupe(place, ['approvals', 'answer', id, 'yes'])).stderr).toContain(`$'w\\x1b[31m\\x0ax.ai'`)
  })
})

describe('the command that resumes', () => {
  const flags = ['--config', 'strict.json', '--override', 'limits.maxToolTurns=7', '--max-tokens', '90000', '--allow', 'read_file']

  test('says what the run was started with, besides models and limits, which its journal has', async () => {
    const { at, id, place, has } = await waiting('carried', [writing('a.txt'), writing('b.txt')], [...flags, '--deny', 'shell(rm *)'])
    const said = `troupe run w.ai --resume ${id} --config strict.json --allow read_file --deny 'shell(rm *)'`
    expect((await at(['approvals', 'list'])).stdout).toContain(`  ${said}\n`)
    const answered = JSON.parse((await at(['approvals', 'answer', id, 'yes', '--json'])).stdout)
    expect(answered.goOn).toBe(said)
    const elsewhere = await troupe(folder, ['approvals', 'list', '--everywhere'])
    expect(elsewhere.stdout).toContain(`  cd ${place} && ${said}\n`)
    const ended = await at(wordsOf(said))
    expect(ended).toMatchObject({ code: 0, stdout: 'Done.\n' })
    expect(ended.stderr).not.toContain('when the run was started')
    expect(ended.stderr).not.toContain('agent_changed')
    expect([has('a.txt'), has('b.txt')]).toEqual([true, false])
  })

  test('without them: denied calls stay denied, the configuration is read again, and both are reported', async () => {
    const { at, id, place, has } = await waiting(
      'stricter',
      [writing('a.txt'), writing('b.txt'), writing('c.txt')],
      ['--config', 'strict.json', '--deny', 'write_file(*c.txt)'],
    )
    const ended = await at(['run', 'w.ai', '--resume', id, '--allow', 'write_file'])
    expect(ended).toMatchObject({ code: 0, stdout: 'Done.\n' })
    expect(ended.stderr).toContain('Still denied, as at the start of the session: write_file(*c.txt)\n')
    expect(ended.stderr).toContain(`Read again, as at the start of the session: --config ${place}/strict.json\n`)
    expect([has('a.txt'), has('b.txt'), has('c.txt')]).toEqual([true, false, false])
  })

  test('another configuration in its place is reported, even with --quiet', async () => {
    const { at, id, place, has } = await waiting('replaced', [writing('a.txt'), writing('b.txt')], ['--config', 'strict.json'])
    await writeFile(join(place, 'lax.json'), '{}')
    const ended = await at(['run', 'w.ai', '--resume', id, '--allow', 'write_file', '--config', 'lax.json', '-q'])
    expect(ended).toMatchObject({ code: 0, stdout: 'Done.\n' })
    expect(ended.stderr).toBe(`The session was started with --config ${place}/strict.json; from now on lax.json applies.\n`)
    expect(has('b.txt')).toBe(true)
  })

  test('a configuration that is missing by then is reported, and nothing runs without it', async () => {
    const { at, id, place, has } = await waiting('gone', [writing('a.txt')], ['--config', 'strict.json'])
    await rm(join(place, 'strict.json'))
    const ended = await at(['run', 'w.ai', '--resume', id, '--allow', 'write_file'])
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(`${place}/strict.json`) })
    expect(has('a.txt')).toBe(false)
  })

  test('a run that was stored before its rules is not resumed with fewer denials', async () => {
    const { id, place } = await waiting('late', [writing('a.txt')], ['--deny', 'shell(rm *)'])
    const parsed = parseArguments(['run', 'w.ai', '--resume', id, '--deny', 'web_fetch'])
    if (!parsed.ok || parsed.invocation.kind !== 'run') throw new Error('It is a command line of run.')
    const store = sqliteStore({ path: join(folder, 'state', 'troupe') })
    const runtime = createAgentRuntime({
      config: { agents: [{ name: 'w', description: 'x', prompt: 'x', model: 'x' }] },
      adapter: { resolve: () => Promise.reject(new Error('Nobody is asked.')) },
    })
    const { invocation } = parsed
    await expect(
      startRun(runtime, store, { invocation, prompt: '', agent: 'w', workspace: place, folder, dataDir: undefined }),
    ).rejects.toMatchObject({
      code: 'usage',
      message: `The session ${id} was started with more --deny patterns: shell(rm *).`,
      remedy: `Repeat them: troupe run w.ai --resume ${id} --deny 'shell(rm *)' --deny web_fetch`,
    })
    await runtime.close()
    await store.close()
  })

  test('keeps no secret of its flags', async () => {
    const place = join(folder, 'flagged')
    await makeProject(place)
    await makeAgent(place, [writing('a.txt')])
    const secretive = { ...env, OPENAI_API_KEY: 'sk-very-secret-42' }
    const id = sessionIdOf(
      await troupeIn(place, ['run', 'w.ai', 'Go', '--json', '-q', '--deny', 'shell(curl sk-very-secret-42*)'], secretive),
    )
    const store = sqliteStore({ path: join(folder, 'state', 'troupe') })
    const events = JSON.stringify(await store.journal.read(id as TreeId, 0))
    await store.close()
    expect(events).toContain('shell(curl [redacted:OPENAI_API_KEY]*)')
    expect(events).not.toContain('very-secret')
  })
})

describe('an answer', () => {
  const secretive = { ...env, OPENAI_API_KEY: 'sk-very-secret-42' }
  const asking: Call = { tool: 'ask_user', input: { question: 'Which key?' } }
  const inboxOf = async (id: string): Promise<string> => {
    const store = sqliteStore({ path: join(folder, 'state', 'troupe') })
    const rows = await store.inbox.read(id as TreeId, 0)
    await store.close()
    return JSON.stringify(rows)
  }

  test('is kept without what the run would take out of it: keys of the environment and of its configuration, from anywhere', async () => {
    const { place, id } = await waiting('secretive', [asking])
    await writeFile(join(place, '.ai-agent.env'), 'DEPLOY_TOKEN=tok-also-secret-7\n')
    const baseURL = 'http://127.0.0.1:9/v1'
    const own = { kind: 'openai-compatible', baseURL, apiKey: 'plain-as-day-9', headers: { Authorization: 'Bearer bare-secret-11' } }
    await writeFile(join(place, '.ai-agent.json'), JSON.stringify({ providers: { own } }))
    await troupe(place, ['trust', '--all'])
    const words = 'Take sk-very-secret-42, tok-also-secret-7, bare-secret-11 or plain-as-day-9'
    const said = await troupeIn(folder, ['approvals', 'answer', id, words, '--json'], secretive)
    expect(said).toMatchObject({ code: 0 })
    expect(said.stdout).toMatch(/"text":"Take \[redacted:OPENAI_API_KEY\], \[redacted:DEPLOY_TOKEN\], (\[redacted:[^\]]+\](, | or )?){2}"/)
    const { decision } = JSON.parse(said.stdout)
    expect(await inboxOf(id)).toContain(JSON.stringify(decision))
    expect(await inboxOf(id)).not.toMatch(/secret-\d|plain-as-day/)
  })

  test('why not, too', async () => {
    const { place, id } = await waiting('declined', [writing('a.txt')])
    await troupeIn(place, ['approvals', 'answer', id, 'no', 'not', 'sk-very-secret-42'], secretive)
    expect(await inboxOf(id)).toContain('"feedback":"not [redacted:OPENAI_API_KEY]"')
  })
})

describe('runs that are dropped', () => {
  const path = join(folder, 'state', 'troupe')

  test('all or none, even if a process drives one of them', async () => {
    const { id: free, at } = await waiting('free', [writing('a.txt')])
    const { id: driven } = await waiting('driven', [writing('a.txt')])
    const store = sqliteStore({ path })
    const claim = await store.journal.claim(driven as TreeId, 'somebody' as DriverId)
    const refused = await at(['approvals', 'drop', free, driven, '--json'])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining(`${driven}  It is running: process ${process.pid} on `) })
    expect(JSON.parse(refused.stdout)).toMatchObject({ ok: false, error: { code: 'session_driven', problems: [{ place: driven }] } })
    expect(await store.trees.get(free as TreeId)).toMatchObject({ status: 'suspended' })
    if (claim.ok) await store.journal.release(driven as TreeId, claim.epoch)
    await store.close()
    const ended = await at(['approvals', 'drop', free, driven, free, '--json'])
    expect(JSON.parse(ended.stdout)).toEqual({ ok: true, dropped: [free, driven], exitCode: 0 })
  })

  test('one that fails all the same: earlier ones are reported', async () => {
    const { id: first } = await waiting('first', [writing('a.txt')])
    const { id: second } = await waiting('second', [writing('a.txt')])
    const store = sqliteStore({ path })
    const { journal } = store
    let claims = 0
    const claim: Journal['claim'] = (treeId, driver) =>
      treeId === second && ++claims > 1 ? { ok: false, driver: 'somebody' } : journal.claim(treeId, driver)
    const late: Journal = {
      claim,
      release: (...given) => journal.release(...given),
      append: (batch) => journal.append(batch),
      read: (...given) => journal.read(...given),
      watch: (...given) => journal.watch(...given),
    }
    const ended = await endSessions({ ...store, journal: late, trees: store.trees }, [first, second], { folder: path, dataDir: undefined })
    expect(ended).toMatchObject({ dropped: [first], error: { code: 'session_driven' } })
    expect(await store.trees.get(first as TreeId)).toMatchObject({ status: 'interrupted' })
    expect(await store.trees.get(second as TreeId)).toMatchObject({ status: 'suspended' })
    await store.close()
  })
})

describe('an approval that is kept', () => {
  test('holds in the folder that it was given in, and nowhere else in the project', async () => {
    const root = join(folder, 'ground')
    await makeProject(root)
    const call: Call = { tool: 'shell', input: { command: './go.sh' } }
    for (const name of ['', 's1', 's2']) await makeAgent(join(root, name), [call])
    const go = (name: string) => troupe(join(root, name), ['run', 'w.ai', 'Go', '--json', '-q'])
    const id = sessionIdOf(await go('s1'))
    expect(await troupe(join(root, 's1'), ['approvals', 'answer', id, 'p'])).toMatchObject({ code: 0 })
    expect((await troupe(join(root, 's1'), ['run', 'w.ai', '--resume', id])).code).toBe(0)
    const { grants } = JSON.parse((await troupe(root, ['approvals', 'list', '--json'])).stdout)
    expect(grants).toMatchObject([{ project: root, folder: join(root, 's1') }])
    const { key } = grants[0]
    expect((await go('s1')).code).toBe(0)
    sessionIdOf(await go('s2'))
    sessionIdOf(await go(''))
    const list = await troupe(root, ['approvals', 'list'])
    expect(list.stdout.split('\n')[0]).toMatch(new RegExp(`· in ${root}/s1 · by `))
    expect(await troupe(root, ['approvals', 'revoke', key])).toMatchObject({ code: 0, stdout: `Revoked: ${key}\n` })
    sessionIdOf(await go('s1'))
  })
})
