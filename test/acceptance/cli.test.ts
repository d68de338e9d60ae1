import { spawn } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
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
  test('product.md 4: pipes, NO_COLOR and TERM=dumb get no escape byte', async () => {
    for (const env of [{}, { NO_COLOR: '1' }, { TERM: 'dumb' }]) {
      const { stdout, stderr } = await troupe(folder(hello), ['run', 'a.ai', 'x'], { env })
      expect(`${stdout}${stderr}`).not.toContain('\u001b')
    }
  })
  test('a failed run has nothing on stdout', async () => {
    const { stdout, stderr, code } = await troupe(folder('steps:\n  - fault: auth\n'), ['run', 'a.ai', 'x'])
    expect(stdout).toBe('')
    expect(stderr).toMatch(/\S/)
    expect(code).toBe(3)
  })
})

describe('--json: one document, even on failure', () => {
  test('success: outcome, accounting, operations, snapshot', async () => {
    const { stdout, code } = await troupe(folder(hello), ['run', 'a.ai', 'x', '--json'])
    expect(code).toBe(0)
    expect(stdout.trimEnd()).not.toContain('\n')
    const outcome = JSON.parse(stdout)
    expectWhole(outcome)
    expect([outcome.status, outcome.report.text]).toEqual(['completed', 'Good morning, Ada.'])
  })
  test('failure: a document on stdout, and the exit code', async () => {
    const { stdout, code } = await troupe(folder(hello), ['run', 'b.ai', 'x', '--json'])
    expect([code, JSON.parse(stdout)]).toMatchObject([2, { ok: false, exitCode: 2 }])
  })
})

describe('--stream-json: events, one a line', () => {
  test('every line is an event; durable ones are gap-free and legal; the last but one is idle, the last is the outcome', async () => {
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
  test.each([
    ['auth', 3],
    ['network', 4],
  ] as const)('a model that fails with %s: %i', async (fault, expected) => {
    const { code, stderr } = await troupe(folder(`steps:\n${`  - fault: ${fault}\n`.repeat(6)}`), ['run', 'a.ai', 'x'])
    expect(code, stderr).toBe(expected)
  })
  test('5: steps that run out', async () => {
    const { code, stdout } = await troupe(folder(`steps:\n${'  - calls: [{ tool: nope }]\n'.repeat(10)}  - text: As far as I got.\n`), [
      'run',
      'a.ai',
      'x',
    ])
    expect([code, stdout]).toEqual([5, 'As far as I got.\n'])
  })
  test('3: a provider without a model, with what was searched and what to do', async () => {
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
  test('- is stdin', async () => expect((await asked(['-'], 'from stdin\n')).trim()).toBe('from stdin'))
  test('both: the piped below the prompt, after a blank line', async () =>
    expect((await asked(['Look at this'], 'the diff\n')).trim()).toBe('Look at this\n\nthe diff'))
  test('an empty stdin without a prompt is an error: exit 2, no hang', async () => expect(await asked([], '')).toMatch(/^exit 2/))
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

describe('product.md 7 and the issue: a wrong file, key, flag or argument: every error, place, expectation, remedy; exit 2; nothing started', () => {
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
  test('several mistakes in one command line are reported together, with the nearest flag', async () => {
    expect(await wrong(() => ['run', 'a.ai', 'x', '--strem-json', '--quit'])).toMatch(/--strem-json[\s\S]*--stream-json[\s\S]*--quit/)
  })
})

describe('--version, --help, demo', () => {
  test('product.md 8: they answer on stdout, exit 0', async () => {
    const where = temporaryFolder()
    for (const args of [['--version'], ['--help']]) {
      const { stdout, stderr, code } = await troupe(where, args)
      expect([code, stderr], args.join(' ')).toEqual([0, ''])
      expect(stdout).toMatch(args[0] === '--version' ? /^\d+\.\d+\.\d+\n$/ : /troupe/)
    }
    expect(readdirSync(where), 'nothing is written').toEqual([])
  })
  test('demo: a team fixes a failing test, and shows its tree', async () => {
    const where = temporaryFolder()
    const { stdout, stderr, code, killed } = await troupe(where, ['demo'])
    expect([code, killed]).toEqual([0, false])
    expect(stdout.trim().length, 'the answer').toBeGreaterThan(20)
    expect(stdout).not.toMatch(/[├└│]/)
    expect(stderr, 'a tree').toMatch(/[├└]/)
    expect(stderr, 'failing tests').toMatch(/exit code 1/)
    expect(stderr, 'a change').toMatch(/\+2 -2/)
    expect(stderr, 'it says that answers are recorded').toMatch(/recorded answers, no AI model/)
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
})
