import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { expectLegal, expectWhole, type Ran, ran, root, temporaryFolder } from './support.ts'

vi.setConfig({ testTimeout: 40_000 })

const bin = path.join(root, 'bin/troupe.mjs')

/** A folder with an agent on a script. */
function folder(script: string, agent = 'description: Greets people by name\nmodels: script/a.yaml'): string {
  const where = temporaryFolder()
  writeFileSync(path.join(where, 'a.ai'), `#!/usr/bin/env troupe\n---\n${agent}\n---\nYou greet people.\n`)
  writeFileSync(path.join(where, 'a.yaml'), script)
  return where
}
const hello = 'steps:\n  - text: Good morning, Ada.\n'
const troupe = (cwd: string, args: readonly string[], more: { stdin?: string; env?: NodeJS.ProcessEnv; ms?: number } = {}): Promise<Ran> =>
  ran([bin, ...args], { cwd, ms: 20_000, ...more })
const lines = (text: string): { type: string; seq?: number }[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string })

describe('product.md 1: stdout is exactly the answer and a newline; everything else is on stderr', () => {
  test('run', async () => {
    const { stdout, stderr, code } = await troupe(folder(hello), ['run', 'a.ai', 'Greet Ada'])
    expect([stdout, code]).toEqual(['Good morning, Ada.\n', 0])
    expect(stderr).not.toBe('')
  })
  test('FILE.ai without run', async () => {
    const { stdout, code } = await troupe(folder(hello), ['a.ai', 'Greet Ada'])
    expect([stdout, code]).toEqual(['Good morning, Ada.\n', 0])
  })
  test('an answer that ends in a newline gets no second one; one of many lines and odd characters comes through', async () => {
    const answer = 'Zeile 1\n\n\ttab „ß“ 👩‍👩‍👧 \u001b[31mred\n'
    const { stdout } = await troupe(folder(`steps:\n  - text: ${JSON.stringify(answer)}\n`), ['run', 'a.ai', 'x', '-q'])
    expect(stdout.replace(/\n+$/, '\n')).toBe(answer)
  })
  test('an answer of 2 MB comes whole through a pipe', async () => {
    const { stdout, code } = await troupe(folder(`steps:\n  - text: ${'a'.repeat(2_000_000)}\n`), ['run', 'a.ai', 'x', '-q'])
    expect([stdout.length, code]).toEqual([2_000_001, 0])
  })
  test('--quiet: nothing on stderr', async () => {
    for (const flag of ['--quiet', '-q']) expect((await troupe(folder(hello), ['run', 'a.ai', 'x', flag])).stderr).toBe('')
  })
  test('product.md 4: pipes, NO_COLOR and TERM=dumb get no escape byte', async () => {
    for (const env of [{}, { NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      const { stdout, stderr } = await troupe(folder(hello), ['run', 'a.ai', 'x'], { env })
      expect(`${stdout}${stderr}`).not.toContain('\u001b')
    }
  })
  test('text before calls is not the answer, so not on stdout', async () => {
    const { stdout } = await troupe(folder('steps:\n  - text: Let me look.\n    calls:\n      - tool: nope\n  - text: The answer.\n'), [
      'run',
      'a.ai',
      'x',
    ])
    expect(stdout).toBe('The answer.\n')
  })
  test('a failed run has nothing on stdout', async () => {
    const { stdout, stderr, code } = await troupe(folder('steps:\n  - fault: auth\n'), ['run', 'a.ai', 'x'])
    expect(stdout).toBe('')
    expect(stderr).toMatch(/\S/)
    expect(code).toBe(3)
  })
})

describe('--json: one document, also on failure', () => {
  test('success: outcome, accounting, operations, snapshot', async () => {
    const { stdout, code } = await troupe(folder(hello), ['run', 'a.ai', 'x', '--json'])
    expect(code).toBe(0)
    expect(stdout.trimEnd()).not.toContain('\n')
    const outcome = JSON.parse(stdout)
    expectWhole(outcome)
    expect([outcome.status, outcome.report.text]).toEqual(['completed', 'Good morning, Ada.'])
  })
  for (const [name, script, args, expected] of [
    ['a failing model', 'steps:\n  - fault: auth\n', ['run', 'a.ai', 'x'], 3],
    ['a wrong script', 'steps: 5\n', ['run', 'a.ai', 'x'], 2],
    ['a missing file', hello, ['run', 'b.ai', 'x'], 2],
    ['an unknown flag', hello, ['run', 'a.ai', 'x', '--jason'], 2],
    ['no file', hello, ['run'], 2],
    ['no prompt', hello, ['run', 'a.ai'], 2],
  ] as const)
    test(`${name}: a document on stdout, exit ${expected}`, async () => {
      const { stdout, code } = await troupe(folder(script), [...args, '--json'])
      expect(code).toBe(expected)
      expect(stdout.trim(), 'one document').not.toBe('')
      const document = JSON.parse(stdout)
      expect(JSON.stringify(document)).toMatch(/\S/)
    })
})

describe('--stream-json: events, one a line', () => {
  test('every line is an event; durable ones are gap-free and legal; the last but one is idle, the last tells how it ended', async () => {
    const { stdout, code } = await troupe(
      folder('steps:\n  - text: Let me look.\n    calls:\n      - tool: nope\n  - text: The answer is long.\n'),
      ['run', 'a.ai', 'x', '--stream-json'],
    )
    expect(code).toBe(0)
    const events = lines(stdout)
    expectLegal(events.filter((event) => 'seq' in event) as never)
    expect(events.some(({ type }) => type === 'interaction.item.delta')).toBe(true)
    expect(events.at(-2)?.type).toBe('interaction.session.idle')
    expect(events.at(-1)).toMatchObject({ type: 'run.completed', exitCode: 0 })
  })
  test('on a failing run: the events that there are, and the exit code', async () => {
    const { stdout, code } = await troupe(folder('steps:\n  - fault: auth\n'), ['run', 'a.ai', 'x', '--stream-json'])
    expect(code).toBe(3)
    expect(lines(stdout).map(({ type }) => type)).toContain('interaction.turn.failed')
  })
  test('on wrong usage stdout stays empty or machine-readable', async () => {
    const { stdout, code } = await troupe(folder(hello), ['run', 'b.ai', 'x', '--stream-json'])
    expect(code).toBe(2)
    if (stdout !== '') lines(stdout)
  })
  test('both --json and --stream-json is a mistake that is told', async () => {
    const { stderr, code, stdout } = await troupe(folder(hello), ['run', 'a.ai', 'x', '--json', '--stream-json'])
    expect(code).toBe(2)
    expect(`${stderr}${stdout}`).toMatch(/--stream-json/)
  })
  test('events come as they happen, not at the end', async () => {
    const where = folder('steps:\n  - text: Wait for it.\n    fault: silence\n')
    const child = spawn(process.execPath, [bin, 'run', 'a.ai', 'x', '--stream-json'], {
      cwd: where,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: where, XDG_STATE_HOME: where },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      let seen = ''
      for await (const chunk of child.stdout) {
        seen += chunk
        if (seen.includes('interaction.item.delta')) break
      }
      expect(seen).toContain('interaction.item.delta')
    } finally {
      child.kill('SIGKILL')
    }
  })
})

describe('product.md 2: exit codes', () => {
  for (const [fault, expected] of [
    ['auth', 3],
    ['quota', 4],
    ['network', 4],
    ['invalid_response', 4],
    ['model', 4],
  ] as const)
    test(`a model that fails with ${fault}: ${expected}`, async () => {
      const { code, stderr } = await troupe(folder(`steps:\n${`  - fault: ${fault}\n`.repeat(6)}`), ['run', 'a.ai', 'x'])
      if (fault === 'quota') expect([3, 4, 5]).toContain(code)
      else if (fault === 'model' || fault === 'invalid_response') expect([1, 4]).toContain(code)
      else expect(code, stderr).toBe(expected)
    })
  test('5: steps that run out', async () => {
    const { code, stdout } = await troupe(folder(`steps:\n${'  - calls: [{ tool: nope }]\n'.repeat(10)}  - text: As far as I got.\n`), [
      'run',
      'a.ai',
      'x',
    ])
    expect([code, stdout]).toEqual([5, 'As far as I got.\n'])
  })
  test('3: a provider that there is no model for, with what was looked for and what to do', async () => {
    const { code, stderr, stdout } = await troupe(folder(hello, 'description: d\nmodels: openai/gpt-5'), ['run', 'a.ai', 'x'])
    expect([code, stdout]).toEqual([3, ''])
    expect(stderr).toContain('openai/gpt-5')
    expect(stderr).toMatch(/OPENAI_API_KEY is not set/)
    expect(stderr).toMatch(/export OPENAI_API_KEY=….*--model rehearsal/)
  })
  test('130: Ctrl-C once, within 2 s, journal kept', async () => {
    const where = folder('steps:\n  - text: Wait for it.\n    fault: silence\n')
    const child = spawn(process.execPath, [bin, 'run', 'a.ai', 'x', '--stream-json', '--data-dir', path.join(where, 'data')], {
      cwd: where,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: where },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
      if (out.includes('interaction.item.delta') && !child.killed) child.kill('SIGINT')
    })
    let began = 0
    const ended = new Promise<number | null>((resolve) => child.on('exit', (code) => resolve(code)))
    child.once('spawn', () => {
      began = Date.now()
    })
    const hard = setTimeout(() => child.kill('SIGKILL'), 20_000)
    const code = await ended
    clearTimeout(hard)
    expect(code).toBe(130)
    expect(Date.now() - began).toBeLessThan(15_000)
    const events = lines(out)
    expect(events.map(({ type }) => type)).toContain('interaction.turn.interrupted')
    expect(readdirSync(path.join(where, 'data')).length).toBeGreaterThan(0)
  })
})

describe('product.md 3: stdin and prompt combine; - is stdin; an empty stdin does not hang', () => {
  const asked = async (args: readonly string[], stdin: string) => {
    const { stdout, code, stderr } = await troupe(folder(hello), ['run', '--stream-json', 'a.ai', ...args], { stdin })
    if (code !== 0) return `exit ${code}: ${stderr}`
    const input = lines(stdout).find(({ type }) => type === 'interaction.input.accepted') as unknown as { parts: { text: string }[] }
    return input.parts.map(({ text }) => text).join('|')
  }
  test('a prompt', async () => expect(await asked(['Hello there'], '')).toBe('Hello there'))
  test('- is stdin', async () => expect((await asked(['-'], 'from stdin\n')).trim()).toBe('from stdin'))
  test('stdin alone', async () => expect((await asked([], 'from stdin\n')).trim()).toBe('from stdin'))
  test('both: the piped below the prompt, after a blank line', async () =>
    expect((await asked(['Look at this'], 'the diff\n')).trim()).toBe('Look at this\n\nthe diff'))
  test('-- before a prompt that looks like a flag', async () => expect(await asked(['--', '--json is what?'], '')).toBe('--json is what?'))
  test('an empty stdin without a prompt: told, exit 2, no hang', async () => expect(await asked([], '')).toMatch(/^exit 2/))
  test('- with an empty stdin: told, exit 2', async () => expect(await asked(['-'], '')).toMatch(/^exit 2/))
  test('a stdin that stays open and silent does not hang a run that has its prompt', async () => {
    const where = folder(hello)
    const child = spawn(process.execPath, [bin, 'run', 'a.ai', 'Greet', '-q'], {
      cwd: where,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: where },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const hard = setTimeout(() => child.kill('SIGKILL'), 8000)
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    const signal = await new Promise((resolve) => child.on('exit', (_, by) => resolve(by)))
    clearTimeout(hard)
    child.stdin.destroy()
    expect([out, signal]).toEqual(['Good morning, Ada.\n', null])
  })
})

describe('product.md 7 and the issue: a wrong file, key, flag or argument: every error at once, place, expectation, remedy; exit 2; nothing started', () => {
  const started = (where: string): boolean => existsSync(path.join(where, 'data'))
  const wrong = async (make: (where: string) => readonly string[]) => {
    const where = folder(hello)
    const { stdout, stderr, code } = await troupe(where, [...make(where), '--data-dir', path.join(where, 'data')])
    expect([stdout, code]).toEqual(['', 2])
    expect(started(where), 'nothing started').toBe(false)
    expect(stderr).not.toMatch(/\n\s+at .*(:\d+){2}/)
    return stderr
  }
  test('an agent file with many errors', async () => {
    const stderr = await wrong((where) => {
      writeFileSync(path.join(where, 'bad.ai'), '---\ndescrption: x\nmodels: [3, {a: b}]\nlimits: no\n---\n')
      return ['run', 'bad.ai', 'x']
    })
    for (const word of ['bad.ai:2:1', 'descrption', '`description`', 'bad.ai:3:', 'bad.ai:4:1', 'limits'])
      expect(stderr, word).toContain(word)
  })
  for (const [name, text] of [
    ['empty', ''],
    ['without frontmatter', 'Just a prompt\n'],
    ['with frontmatter that is not closed', '---\ndescription: x\nmodels: script/a.yaml\n'],
    ['with broken YAML', '---\ndescription: [x\nmodels: : :\n---\nPrompt\n'],
    ['with frontmatter that is a list', '---\n- a\n- b\n---\nPrompt\n'],
    ['with a key twice', '---\ndescription: x\ndescription: y\nmodels: script/a.yaml\n---\nPrompt\n'],
    ['that is binary', '\u0000\u0001\u0002\ufffd'],
  ] as const)
    test(`an agent file ${name}`, async () => {
      const stderr = await wrong((where) => {
        writeFileSync(path.join(where, 'bad.ai'), text)
        return ['run', 'bad.ai', 'x']
      })
      expect(stderr).toContain('bad.ai')
    })
  test('Windows line ends and a byte order mark are fine', async () => {
    const where = folder(hello)
    writeFileSync(path.join(where, 'w.ai'), '\ufeff---\r\ndescription: x\r\nmodels: script/a.yaml\r\n---\r\nPrompt\r\n')
    const { stdout, code, stderr } = await troupe(where, ['run', 'w.ai', 'x', '-q'])
    expect([stdout, code], stderr).toEqual(['Good morning, Ada.\n', 0])
  })
  test('a file that does not exist: the ones that do', async () => expect(await wrong(() => ['run', 'aa.ai', 'x'])).toContain('a.ai'))
  test('a folder instead of a file', async () => {
    const stderr = await wrong((where) => {
      mkdirSync(path.join(where, 'd.ai'))
      return ['run', 'd.ai', 'x']
    })
    expect(stderr).toContain('d.ai')
  })
  test('an unknown flag: the nearest', async () =>
    expect(await wrong(() => ['run', 'a.ai', 'x', '--strem-json'])).toContain('--stream-json'))
  test('an unknown command: the nearest', async () => {
    const { code, stderr } = await troupe(folder(hello), ['rnu', 'a.ai'])
    expect(code).toBe(2)
    expect(stderr).toContain('run')
  })
  test('too many arguments', async () => expect(await wrong(() => ['run', 'a.ai', 'x', 'y', 'z'])).toMatch(/y|quot|argument/))
  test('several mistakes in one command line are told at once', async () => {
    const stderr = await wrong(() => ['run', 'a.ai', 'x', '--jsn', '--quit'])
    expect(stderr).toMatch(/--jsn[\s\S]*--quit/)
  })
  test('a script that does not exist', async () => {
    const where = folder(hello, 'description: d\nmodels: script/none.yaml')
    const { code, stderr } = await troupe(where, ['run', 'a.ai', 'x'])
    expect([2, 3]).toContain(code)
    expect(stderr).toContain('none.yaml')
  })
  test('a script with many errors: all at once, file:line:col', async () => {
    const where = folder('steps:\n  - txt: a\n  - text: 3\n  - calls: foo\n')
    const { code, stderr } = await troupe(where, ['run', 'a.ai', 'x'])
    expect(code).toBe(2)
    for (const word of ['a.yaml:2:', 'a.yaml:3:', 'a.yaml:4:', 'txt', 'text']) expect(stderr).toContain(word)
  })
  test('a script that ends too early: told, not a hang, exit not 0', async () => {
    const { code, stderr, killed } = await troupe(folder('steps:\n  - calls: [{ tool: nope }]\n'), ['run', 'a.ai', 'x'])
    expect(killed).toBe(false)
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/script|step/)
  })
  test('a data folder that is a file: told, exit not 0, no stack', async () => {
    const where = folder(hello)
    writeFileSync(path.join(where, 'file'), 'x')
    const { code, stderr } = await troupe(where, ['run', 'a.ai', 'x', '--data-dir', 'file'])
    expect([1, 2]).toContain(code)
    expect(stderr).toContain('file')
    expect(stderr).not.toMatch(/\n\s+at .*(:\d+){2}/)
  })
  test('--data-dir without a value', async () => {
    const { code, stderr } = await troupe(folder(hello), ['run', 'a.ai', 'x', '--data-dir'])
    expect(code).toBe(2)
    expect(stderr).toContain('--data-dir')
  })
})

describe('--version, --help, demo', () => {
  test('product.md 8: they answer on stdout, exit 0', async () => {
    const where = temporaryFolder()
    for (const args of [['--version'], ['-V'], ['--help'], ['-h'], ['help'], ['help', 'run'], ['run', '--help']]) {
      const { stdout, stderr, code } = await troupe(where, args)
      expect([code, stderr], args.join(' ')).toEqual([0, ''])
      expect(stdout).toMatch(args[0] === '--version' || args[0] === '-V' ? /^\d+\.\d+\.\d+\n$/ : /troupe/)
    }
    expect(readdirSync(where), 'nothing is written').toEqual([])
  })
  test('without a command: what there is; exit 2 or 0', async () => {
    const { stdout, stderr, code } = await troupe(temporaryFolder(), [])
    expect([0, 2]).toContain(code)
    expect(`${stdout}${stderr}`).toMatch(/troupe (--help|help|run)/)
  })
  test('npm start: a scripted demo with parallel tools, a failing tool and a forced last answer, and shows its tree', async () => {
    const where = temporaryFolder()
    const { stdout, stderr, code, killed } = await troupe(where, ['demo'])
    expect([code, killed]).toEqual([0, false])
    expect(stdout.trim().length, 'the answer').toBeGreaterThan(20)
    expect(stdout).not.toMatch(/[├└│]/)
    expect(stderr, 'a tree').toMatch(/[├└]/)
    expect(stderr, 'a failing tool').toMatch(/✗|failed/)
    expect(stderr, 'a forced last answer').toMatch(/forced/)
    expect(stderr, 'it says that it is a script').toMatch(/script/)
    expect(`${stdout}${stderr}`).not.toContain('\u001b')
    expect(readdirSync(where), 'nothing stored').toEqual([])
  })
  test.runIf(existsSync('/usr/bin/node'))(
    'issue: bin/troupe re-executes under the repository’s Node when the current one is too old',
    async () => {
      const where = folder(hello)
      const old = await new Promise<Ran>((resolve) => {
        const child = spawn('/usr/bin/node', [bin, 'run', 'a.ai', 'x', '-q'], {
          cwd: where,
          env: { PATH: '/usr/bin:/bin', HOME: where },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        let stdout = ''
        let stderr = ''
        child.stdout.on('data', (chunk) => {
          stdout += chunk
        })
        child.stderr.on('data', (chunk) => {
          stderr += chunk
        })
        const hard = setTimeout(() => child.kill('SIGKILL'), 15_000)
        child.on('close', (code) => {
          clearTimeout(hard)
          resolve({ code, stdout, stderr, killed: child.signalCode === 'SIGKILL' })
        })
      })
      expect([old.stdout, old.code], old.stderr).toEqual(['Good morning, Ada.\n', 0])
    },
  )
  test('a reader that leaves early (head -1) brings no stack trace', async () => {
    const where = folder(`steps:\n  - text: ${'a'.repeat(1_000_000)}\n`)
    const child = spawn(process.execPath, [bin, 'run', 'a.ai', 'x', '-q'], {
      cwd: where,
      env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, HOME: where },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stdout.destroy()
    let stderr = ''
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    const hard = setTimeout(() => child.kill('SIGKILL'), 15_000)
    await new Promise((resolve) => child.on('close', resolve))
    clearTimeout(hard)
    expect(stderr).not.toMatch(/\n\s+at .*(:\d+){2}|EPIPE/)
  })
})
