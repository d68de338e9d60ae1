import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { sqliteStore } from '../../src/stores/sqlite/index.ts'
import { noSandboxHere, sandboxed } from '../sandbox-here.ts'
import { agentFiles, alive, answer, type Ground, ground, journalFolder, lay, mark, troupe, yes } from './acting-support.ts'
import { documentOf, linesOf } from './command.ts'
import { until } from './support.ts'

vi.setConfig({ testTimeout: 120_000 })

const write = (path: string, content = 'x') => ({ calls: [{ tool: 'write_file', input: { path, content } }] })
const run = (place: Ground, file: string, ...more: readonly string[]) => troupe(place, ['run', file, 'Go', '--json', '-q', ...more]).ended
const approvals = async (place: Ground, ...args: readonly string[]) => {
  const ended = await troupe(place, ['approvals', ...args, '--json']).ended
  return { code: ended.code, told: JSON.parse(ended.stdout) }
}

describe.concurrent('what was approved for a project', () => {
  test('by a program, for a child, is kept with its name, holds for other processes, yields to a rule, and is taken back in the middle of a run', async () => {
    const place = ground({
      ...agentFiles('boss', 'agents: [./writer.ai]', [
        { calls: [{ tool: 'agent__writer', input: { prompt: 'Write' } }] },
        { text: 'Done.' },
      ]),
      ...agentFiles('writer', 'usage: what to write\noutput: { format: text }\ntools: [write_file]', [
        write('one.txt'),
        { text: 'Written.' },
      ]),
      ...agentFiles('again', 'tools: [write_file]', [write('two.txt'), write('three.txt'), { text: 'Both.' }]),
    })
    const waiting = await run(place, 'boss.ai')
    expect([waiting.code, documentOf(waiting)]).toMatchObject([6, { status: 'suspended', reason: 'approval' }])
    expect(existsSync(place.at('one.txt'))).toBe(false)
    const waits = (await approvals(place, 'list')).told
    expect(JSON.stringify(waits)).toContain('Write one.txt')

    const treeId = await answer(journalFolder(place), yes('project', `path:${place.workspace}/`))
    const resumed = await troupe(place, ['run', 'boss.ai', '--resume', treeId, '--json', '-q']).ended
    expect([resumed.code, documentOf(resumed).report?.text]).toEqual([0, 'Done.'])
    expect(place.read('one.txt')).toBe('x')
    const { told } = await approvals(place, 'list')
    expect(JSON.stringify(told)).toContain(`path:${place.workspace}/`)
    expect(JSON.stringify(told)).toContain('bob')

    // A rule that denies counts more; without it another process needs nobody.
    const denied = await run(place, 'again.ai', '--deny', 'write_file(two.txt)')
    expect([denied.code, existsSync(place.at('two.txt')), existsSync(place.at('three.txt'))]).toEqual([0, false, true])

    // Held at its second request by a hook, while another process takes the approval back.
    const [at, go] = [join(place.base, 'at'), join(place.base, 'go')]
    spawnSync('mkfifo', [go])
    lay(place.base, {
      'hook.sh': `#!/bin/sh\nn=$(cat ${at} 2>/dev/null | wc -l)\necho x >> ${at}\n[ "$n" = 1 ] && read -r line < ${go}\nexit 0\n`,
    })
    writeFileSync(
      join(place.base, 'held.json'),
      JSON.stringify({ hooks: [{ name: 'hold', on: ['before_request'], command: [join(place.base, 'hook.sh')], onFailure: 'closed' }] }),
    )
    const held = run(place, 'again.ai', '--config', '../held.json')
    await until('it is held', () => existsSync(at) && readFileSync(at, 'utf8') === 'x\nx\n', 40_000)
    expect(existsSync(place.at('two.txt'))).toBe(true)
    writeFileSync(place.at('three.txt'), 'untouched')
    expect(await approvals(place, 'revoke', `path:${place.workspace}/`)).toMatchObject({ code: 0 })
    // Open for both: that waits for nobody, whether or not somebody reads.
    const letGo = openSync(go, 'r+')
    writeSync(letGo, '\n')
    const stopped = await held
    closeSync(letGo)
    expect([stopped.code, documentOf(stopped)]).toMatchObject([6, { status: 'suspended' }])
    expect(place.read('three.txt')).toBe('untouched')
  })

  test('by two processes concurrently: each is stored, and the list is complete', async () => {
    const names = ['one', 'two']
    const place = ground(
      Object.assign({}, ...names.map((name) => agentFiles(name, 'tools: [write_file]', [write(`${name}.txt`), { text: 'Done.' }]))),
    )
    const homes = await Promise.all(
      names.map(async (name) => {
        const waiting = await run(place, `${name}.ai`, '--data-dir', join(place.base, name))
        return { name, treeId: documentOf(waiting).sessionId as string, path: join(place.base, name) }
      }),
    )
    for (const { path } of homes) await answer(path, yes('project'))
    const ended = await Promise.all(
      homes.map(({ name, treeId, path }) => troupe(place, ['run', `${name}.ai`, '--resume', treeId, '--data-dir', path, '-q']).ended),
    )
    expect(ended.map(({ code }) => code)).toEqual([0, 0])
    const kept = JSON.stringify((await approvals(place, 'list')).told)
    for (const name of names) expect(kept).toContain(`path:${place.at(`${name}.txt`)}`)
  })

  test('is not what a project brings along: a list of grants in its folder, or as its state, grants nothing', async () => {
    const place = ground(agentFiles('again', 'tools: [write_file]', [write('two.txt'), { text: 'Both.' }]))
    const grants = (project: string) => ({
      version: 1,
      grants: [{ key: 'tool:write_file', label: 'any', project, by: 'mallory', at: 1 }],
    })
    lay(place.workspace, {
      'grants.json': JSON.stringify(grants(place.workspace)),
      '.troupe/grants.json': JSON.stringify(grants(place.workspace)),
      '.ai-agent.json': JSON.stringify({
        approvals: { rules: [{ allow: 'write_file' }], onUnavailable: 'suspend' },
        store: { path: '.troupe' },
      }),
    })
    const waiting = await run(place, 'again.ai')
    expect([waiting.code, existsSync(place.at('two.txt'))]).toEqual([6, false])
  })
})

describe.concurrent('a run that waits', () => {
  test('for two answers continues with both; answered twice and late, the first applies, and the run reports it', async () => {
    const place = ground(
      agentFiles('two', 'tools: [write_file]', [
        { calls: [...write('a.txt', 'a').calls, ...write('b.txt', 'b').calls] },
        { text: 'One of two.' },
      ]),
    )
    expect((await run(place, 'two.ai')).code).toBe(6)
    const treeId = await answer(journalFolder(place), yes(), 'bob')
    await answer(journalFolder(place), { kind: 'deny', feedback: 'too late' }, 'eve')
    const ended = await troupe(place, ['run', 'two.ai', '--resume', treeId, '--stream-json', '-q']).ended
    expect(ended.code).toBe(0)
    const lines = linesAfter(ended)
    expect(lines.filter(({ type }) => type === 'interaction.approval.resolved').map(({ by }) => by)).toEqual(['bob', 'bob'])
    expect(JSON.stringify(lines.at(-1).outcome.diagnostics)).toContain('approval_late')
    expect([place.read('a.txt'), place.read('b.txt')]).toEqual(['a', 'b'])
    // Once more: there is nothing to go on with, and nothing is done again.
    writeFileSync(place.at('a.txt'), 'mine')
    await troupe(place, ['run', 'two.ai', '--resume', treeId, '-q']).ended
    expect(place.read('a.txt')).toBe('mine')
  })
})
/** The lines of a run that was taken up: `seq` goes on where it was. */
const linesAfter = ({ stdout }: { stdout: string }) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe.skipIf(noSandboxHere)(sandboxed('a command at work'), { concurrent: true }, () => {
  const started = (sleep: string) => ({ calls: [{ tool: 'shell', input: { command: `echo once >> runs; sleep ${sleep}` } }] })

  test('Ctrl-C: exit 130 soon, the command and all of its processes gone, and the document says what is known', async () => {
    const sleep = mark()
    const place = ground(agentFiles('slow', 'tools: [shell]', [started(sleep), { text: 'Never.' }]))
    const running = troupe(place, ['run', 'slow.ai', 'Go', '--json', '-q', '--allow', 'shell'])
    await until('the command runs', () => alive(sleep).length > 0, 40_000)
    const begun = performance.now()
    running.signal('SIGINT')
    const ended = await running.ended
    expect(performance.now() - begun).toBeLessThan(10_000)
    expect([ended.code, documentOf(ended)]).toMatchObject([130, { status: 'interrupted' }])
    await until('nothing is left', () => alive(sleep).length === 0, 40_000)
  })

  test('killed: no process survives, nothing runs again, and model and user are informed that the result is unknown', async () => {
    const sleep = mark()
    const place = ground(agentFiles('slow', 'tools: [shell]', [started(sleep), { text: 'I do not know.' }]))
    const running = troupe(place, ['run', 'slow.ai', 'Go', '-q', '--allow', 'shell'])
    await until('the command runs', () => existsSync(place.at('runs')) && alive(sleep).length > 0, 40_000)
    running.signal('SIGKILL')
    await running.ended
    await until('nothing is left', () => alive(sleep).length === 0, 40_000)
    const store = sqliteStore({ path: journalFolder(place) })
    const [entry] = await store.trees.list({ limit: 1 })
    await store.close()
    const resumed = await troupe(place, ['run', 'slow.ai', '--resume', String(entry?.treeId), '--json', '--allow', 'shell']).ended
    const document = documentOf(resumed)
    expect([resumed.code, document.report.text]).toEqual([0, 'I do not know.'])
    expect(place.read('runs')).toBe('once\n')
    expect(document.diagnostics.map(({ code }: { code: string }) => code)).toContain('call_unknown')
    expect(resumed.stderr).toMatch(/unknown/)
    const results = document.snapshot.history.filter(({ role }: { role: string }) => role === 'tool')
    expect(JSON.stringify(results)).toMatch(/may have run|not known/)
  })
})

describe.concurrent('AGENTS.md', () => {
  test('nested, huge, binary and linked ones: in order, within limits, omissions are reported, children get them, too', async () => {
    const place = ground({
      'AGENTS.md': 'Rule of the root.\n',
      'a/AGENTS.md': `Rule of a.\n${'filler line\n'.repeat(20_000)}`,
      'a/b/AGENTS.md': new Uint8Array([0xff, 0xfe, 0, 1, 2, 0xc3]),
      'a/b/c/AGENTS.md': 'Rule of c.\n',
      'elsewhere/AGENTS.md': 'Not on the way.\n',
      ...agentFiles('boss', 'agents: [./kid.ai]', [{ calls: [{ tool: 'agent__kid', input: { prompt: 'Say' } }] }, { text: 'Done.' }]),
      ...agentFiles('kid', 'usage: words\noutput: { format: text }', [{ text: 'Said.' }]),
    })
    const ended = await troupe({ ...place, workspace: place.at('a/b/c') }, ['run', place.at('boss.ai'), 'Go', '--stream-json']).ended
    expect(ended.code).toBe(0)
    const added = linesOf(ended).filter(({ type }) => type === 'interaction.context.added')
    for (const path of ['root', 'root/kid#1']) {
      const texts: readonly string[] = added.filter(({ agentPath }) => agentPath === path).map(({ text }) => text)
      expect(texts.map((text) => /Rule of (?:the )?(\w+)/.exec(text)?.[1])).toEqual(['root', 'a', 'c'])
      expect(Buffer.byteLength(texts.join(''))).toBeLessThan(70_000)
      expect(texts[1]).toMatch(/omitted/)
    }
    expect(ended.stdout).not.toContain('Not on the way')
    expect(ended.stderr).toMatch(/a\/b\/AGENTS\.md/)
    expect(ended.stderr).toMatch(/a\/AGENTS\.md/)
  })
})
