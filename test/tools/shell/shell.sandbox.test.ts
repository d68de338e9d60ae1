import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ToolOutput } from '../../../src/contracts/index.ts'
import { FakeClock, gate, toolContract } from '../../../src/testing/index.ts'
import { noSandboxHere, sandboxed } from '../../sandbox-here.ts'
import { eventually, find, processesNamed, realClock } from '../sandbox/ground.ts'
import { contextOf, type ShellGround, shellGround } from './shell-ground.ts'

const content = (output: ToolOutput): string => (output.ok ? output.content : `failed: ${output.error.message}`)
const node = JSON.stringify(process.execPath)

const kinds = [
  ['in the sandbox', 'sandbox', noSandboxHere],
  ['without a sandbox', 'none', process.platform === 'win32' ? 'no shell' : undefined],
] as const

describe.each(kinds)('a command %s', (_, confinement, missing) => {
  describe.skipIf(missing)(missing ? `(skipped: ${missing})` : 'works', () => {
    let place: ShellGround
    beforeAll(() => {
      place = shellGround(confinement)
    })
    afterAll(() => place.remove())

    it('gives its code and what it printed, errors in order', async () => {
      const output = await place.run('echo out; echo err >&2; echo out again; exit 3')
      expect(output).toMatchObject({ ok: true, value: { exitCode: 3, signal: null, durationMs: expect.any(Number), truncatedBytes: 0 } })
      expect(content(output)).toMatch(/^Exit code 3 after \d+\.\d s\.\nout\nerr\nout again\n$/)
    })

    it('may open what it prints to by name', async () => {
      expect(content(await place.run('echo one > /dev/stdout; echo two > /dev/stderr; echo three | tee /dev/stderr'))).toMatch(
        /\none\ntwo\nthree\nthree\n$/,
      )
    })

    it('reports that nothing was printed', async () => {
      expect(content(await place.run('true'))).toMatch(/^Exit code 0 after .*\n\(no output\)$/)
    })

    it('names the signal that ended it', async () => {
      expect(await place.run('kill -SEGV $$')).toMatchObject({ ok: true, value: { signal: 'SIGSEGV' } })
    })

    it('runs in the given folder, inside the workspace only', async () => {
      expect(content(await place.run('pwd', { input: { cwd: 'sub' } }))).toContain(`${place.root}/sub\n`)
      for (const cwd of ['..', '/etc', 'a.txt', 'nowhere']) {
        expect(await place.run('pwd', { input: { cwd } })).toMatchObject({ ok: false, error: { class: 'invalid_input' } })
      }
    })

    it('finds the end of its input immediately, or reads its input', async () => {
      expect(content(await place.run('cat; echo end'))).toContain('end\n')
      expect(content(await place.run('read -r line; echo "got $line"', { input: { stdin: 'a line\nand more' } }))).toContain('got a line\n')
      expect(content(await place.run('true', { input: { stdin: 'x'.repeat(1_000_000) } }))).toContain('Exit code 0')
    })

    it('is given no environment but what was named', async () => {
      process.env.TROUPE_SHELL_SECRET = 'secret'
      const output = await place.run('env', {
        overlay: { API_KEY: 'k1', OTHER: 'k2', LD_PRELOAD: '/evil.so' },
        policy: { environment: ['API_KEY'] },
      })
      delete process.env.TROUPE_SHELL_SECRET
      const names = content(output)
        .split('\n')
        .flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? [])
      const usual = ['HOME', 'LANG', 'PATH', 'PWD', 'SHLVL', 'TERM', '_']
      const git = ['GIT_CONFIG_COUNT', 'GIT_CONFIG_KEY_0', 'GIT_CONFIG_VALUE_0']
      const sandboxed = ['API_KEY', 'TMPDIR', 'npm_config_fetch_retries', 'PIP_RETRIES', 'CARGO_NET_RETRY', ...git]
      const own = confinement === 'sandbox' ? sandboxed : ['TROUPE_COMMAND']
      expect(names.toSorted()).toEqual([...usual, ...own].toSorted())
    })

    it('shows what it prints as it comes', async () => {
      const first = gate()
      let isEnded = false
      const running = place
        .run('echo first; while [ ! -e go ]; do sleep 0.02; done; echo second; rm go', { output: () => first.open() })
        .finally(() => {
          isEnded = true
        })
      await first.promise
      expect(isEnded).toBe(false)
      writeFileSync(join(place.root, 'go'), '')
      expect(content(await running)).toContain('first\nsecond\n')
    })

    it('takes bytes that are no letters, and escapes, as text', async () => {
      const output = await place.run("printf 'a\\377b\\033[31mred\\033[0m\\0c\\n'")
      expect(content(output).split('\n')[1]).toBe('a\ufffdbredc')
    })

    it('leaves nothing in the background', async () => {
      const mark = `troupe-shell-stays-${process.pid}`
      const stays = `bash -c "exec -a ${mark} sleep 600"`
      const output = await place.run(
        `${stays} & (setsid ${stays} >/dev/null 2>&1 &); (setsid ${stays} &); nohup ${stays} >/dev/null 2>&1 & echo done`,
      )
      expect(content(output)).toContain('done')
      expect(await eventually(() => processesNamed(mark).length === 0)).toBe(true)
    })

    it('that never ends is killed in time, with its output, although it ignores signals', async () => {
      const hasty = { ...realClock, after: (ms: number, fire: () => void) => realClock.after(ms / 20, fire) }
      const other = shellGround(confinement, hasty)
      const output = await other.run('trap "" TERM; echo begun; while :; do sleep 0.05; done', { input: { timeout: 8 } })
      other.remove()
      expect(output).toMatchObject({
        ok: false,
        error: { class: 'timeout', message: expect.stringContaining('after 8 s') },
        partial: 'begun\n',
      })
    })

    it('may tidy up when it is interrupted', async () => {
      const controller = new AbortController()
      const begun = gate()
      const running = place.run('trap "echo tidied > tidy; exit 0" TERM; echo begun; while :; do sleep 0.02; done', {
        signal: controller.signal,
        output: () => begun.open(),
      })
      await begun.promise
      controller.abort()
      expect(await running).toMatchObject({ ok: false, error: { class: 'cancelled' }, partial: expect.stringMatching(/^begun\n/) })
      expect(readFileSync(join(place.root, 'tidy'), 'utf8')).toBe('tidied\n')
    })

    it('prints without end and costs no more than its beginning and its end', async () => {
      const output = await place.run('echo BEGIN; head -c 20000000 /dev/zero | tr "\\0" "x" | fold -w 99; echo END')
      if (!output.ok) throw new Error(output.error.message)
      expect(output.content.length).toBeLessThan(1_100_000)
      expect(output.content).toMatch(/\nBEGIN\nx+\n/)
      expect(output.content).toMatch(/… \d+ of \d+ bytes omitted/)
      expect(output.content.endsWith('xEND\n')).toBe(true)
      expect(output.value).toMatchObject({ truncatedBytes: expect.any(Number) })
      expect(place.shown.join('').length).toBeLessThan(1_300_000)
    })

    it('describes the sandbox to the model', () => {
      const expected = confinement === 'sandbox' ? 'in a sandbox: it can write only to' : 'without a sandbox, with all permissions'
      expect(place.tool.description).toContain(`By default it runs ${expected}`)
    })

    it.each([[''], ['  '], ['echo \0']])('%j is refused', async (command) => {
      expect(await place.run(command)).toMatchObject({ ok: false, error: { class: 'invalid_input' } })
    })
  })
})

describe.skipIf(noSandboxHere)(sandboxed('the sandbox'), () => {
  let place: ShellGround
  beforeAll(() => {
    place = shellGround('sandbox')
  })
  afterAll(() => place.remove())

  it.each([
    ['touch /etc/x', /sandbox denied a write: .*\/etc\/x.*Read-only file system/],
    [`${node} -e "require('dns').lookup('example.com', (e) => { throw e })"`, /the sandbox has no network.*example\.com/],
    [`${node} -e "fs.writeFileSync('/usr/x', '')"`, /EROFS/],
  ])('is named as the reason where it stops %j, so that a person can allow it', async (command, message) => {
    const output = await place.run(command)
    expect(output).toMatchObject({ ok: false, error: { class: 'sandbox', message: expect.stringMatching(message) } })
    expect(output).toMatchObject({ partial: expect.stringMatching(/^Exit code \d+/) })
  })

  it('is not named where a command succeeds, or fails by itself', async () => {
    expect(await place.run('touch /etc/x; echo went on')).toMatchObject({ ok: true })
    expect(await place.run('cat nowhere')).toMatchObject({ ok: true, value: { exitCode: 1 } })
  })

  it('ends a command that exceeds a limit, and names the limit', async () => {
    const output = await place.run('for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 600 & done; wait', { policy: { processes: 8 } })
    expect(output).toMatchObject({ ok: false, error: { class: 'failed', message: expect.stringContaining('more than 8 processes') } })
  })

  it.skipIf(find('git') === undefined)('lets git work, and names a file that is read-only', async () => {
    const name = '-c user.name=a -c user.email=a@b'
    expect(await place.run('git init -q .')).toMatchObject({ ok: true, value: { exitCode: 0 } })
    expect(await place.run('git add -A && git status --short')).toMatchObject({
      ok: true,
      content: expect.stringMatching(/\nA {2}a\.txt\n$/),
    })
    const output = await place.run(
      `git ${name} commit -qm one && git checkout -qb other && git ${name} commit -q --allow-empty -m two && git log --oneline`,
    )
    expect(content(output)).toMatch(/^Exit code 0[\s\S]* two\n.* one\n$/)
    expect(await place.run('git config core.fsmonitor evil')).toMatchObject({
      ok: false,
      error: {
        class: 'sandbox',
        message: expect.stringMatching(/^"\.git\/config" is read-only in the sandbox/),
        remedy: expect.stringContaining('allow this command to run outside the sandbox'),
      },
    })
  })
})

describe('the tool', () => {
  const place = shellGround('none')
  afterAll(() => place.remove())

  for (const { name, run } of toolContract(place.tool, {
    good: { command: 'echo hello' },
    bad: { command: 'echo hello', cwd: '/nowhere' },
    context: contextOf({ kind: 'none' }),
    graceMs: 3000,
  })) {
    it(name, run)
  }

  it('looks like a command', () => {
    expect(place.tool.view?.({ command: 'ls -l', cwd: 'sub' })).toEqual({
      type: 'command_execution',
      details: { command: 'ls -l', cwd: 'sub' },
    })
    expect(place.tool).toMatchObject({ name: 'shell', effect: 'write', concurrency: 'exclusive' })
  })

  it('asks with the command itself', async () => {
    expect(await place.tool.approval?.({ command: 'npm test' })).toEqual({
      summary: 'Run npm test',
      keys: [{ key: 'command:npm test', label: 'npm test' }],
    })
  })

  it('asks for another folder apart, whatever it is called', async () => {
    for (const cwd of ['sub', './sub/', 'sub/../sub', join(place.root, 'sub')]) {
      expect(await place.tool.approval?.({ command: 'make', cwd })).toMatchObject({
        keys: [{ key: 'command:(in sub) make', aliases: ['make'] }],
      })
    }
    expect(await place.tool.approval?.({ command: 'make', cwd: 'sub/..' })).toMatchObject({ keys: [{ key: 'command:make' }] })
  })

  it.skipIf(find('git') === undefined)('lets git look unasked where that runs nothing', async () => {
    const other = shellGround('sandbox')
    const asks = async () => (await other.tool.approval?.({ command: 'git status' }))?.asks ?? true
    expect(await asks()).toBe(true)
    execFileSync('git', ['init', '-q', '.'], { cwd: other.root })
    expect(await asks()).toBe(false)
    mkdirSync(join(other.root, 'sub/.git'))
    expect(await asks()).toBe(true)
    rmSync(join(other.root, 'sub/.git'), { recursive: true })
    expect(await asks()).toBe(false)
    execFileSync('git', ['config', 'core.fsmonitor', 'evil'], { cwd: other.root })
    expect(await asks()).toBe(true)
    other.remove()
  })

  it('respects the given timeout, by the clock', async () => {
    const clock = new FakeClock()
    const timed = shellGround('none', clock)
    const begun = gate()
    const running = timed.run('echo begun; sleep 600', { input: { timeout: 300 }, output: () => begun.open() })
    await begun.promise
    clock.advance(299_999)
    expect(clock.pending).toBe(1)
    clock.advance(1)
    expect(await running).toMatchObject({ ok: false, error: { class: 'timeout' } })
    expect(clock.pending).toBe(0)
    timed.remove()
  })

  it('does not run at all where the sandbox is missing', async () => {
    const { shellTool } = await import('../../../src/tools/builtin/shell/shell-tool.ts')
    const { processSandbox } = await import('../../../src/tools/sandbox/index.ts')
    const clock = new FakeClock()
    const sandbox = processSandbox({ root: place.root, path: '/nowhere', home: '/nowhere', clock })
    const tool = shellTool({ root: place.root, path: '/nowhere', home: '/nowhere', clock, sandbox, isConfined: true })
    const output = await tool.execute({ command: '/bin/touch trace' }, contextOf({ kind: 'sandbox', name: 'bubblewrap' }))
    expect(output).toMatchObject({ ok: false, error: { class: 'sandbox_unavailable', remedy: expect.stringContaining('mode: off') } })
  })
})
