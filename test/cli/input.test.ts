import { execFileSync, spawn } from 'node:child_process'
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Outcome } from '../../src/contracts/index.ts'
import { binary, type Start, workbench } from './troupe.ts'

const { agent, start, folder } = await workbench()
const hello = await agent('hello', 'steps: [{ text: Hello. }]')

const promptIn = (stdout: string): unknown => {
  const { snapshot }: Outcome = JSON.parse(stdout)
  const [first] = snapshot.history
  return first?.role === 'user' && first.parts[0]?.type === 'text' ? first.parts[0].text : undefined
}

/** A pipe as a shell makes them, whose writer is here. */
function openPipe(name: string): { readonly reader: number; end(text: string): void } {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = openSync(path, 'w')
  return {
    reader,
    end(text) {
      writeSync(writer, text)
      closeSync(writer)
    },
  }
}

/** With an end of the pipe of its own; ours must not keep it open. */
function startWith(reader: number, args: readonly string[], more: Start = {}) {
  const run = start(args, { ...more, stdin: reader })
  closeSync(reader)
  return run
}

const waiting = 'Waiting for standard input; end it with Ctrl-D, or redirect from /dev/null.\n'

describe.concurrent('a pipe that is silent for longer than anybody expects', () => {
  test.each([
    ['beside', ['Look'], 'Look\n\nDATA'],
    ['instead', [], 'DATA'],
    ['dash', ['-'], 'DATA'],
  ] as const)('is waited for, and that is said however quiet it is to be: %s', async (...row) => {
    const [name, prompt, expected] = row
    const pipe = openPipe(name)
    const run = startWith(pipe.reader, ['run', hello, ...prompt, '--json', '-q'])
    await run.says('Waiting for standard input')
    pipe.end('DATA\n')
    const { code, stdout, stderr } = await run.ended
    expect([code, promptIn(stdout), stderr]).toEqual([0, expected, waiting])
  })

  test.each([
    ['--json', { ok: false, error: { code: 'interrupted' }, exitCode: 130 }],
    ['--stream-json', { type: 'run.failed', ok: false, error: { code: 'interrupted' }, exitCode: 130 }],
  ])('can be left with Ctrl-C, and the document comes: %s', async (...row) => {
    const [flag, document] = row
    const pipe = openPipe(`left${flag}`)
    const run = startWith(pipe.reader, ['run', hello, '-', flag, '--log-format', 'json'])
    await run.says('Waiting for standard input')
    run.process.kill('SIGINT')
    const { code, stdout, stderr } = await run.ended
    pipe.end('')
    expect(code).toBe(130)
    expect(JSON.parse(stdout)).toMatchObject(document)
    expect(
      stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).level),
    ).toEqual(['warn', 'error'])
  })
})

test('a socket that a program left open and silent is left out, and that is said however quiet it is to be', async () => {
  const child = spawn(process.execPath, [binary, 'run', hello, 'Hi', '-q'], {
    cwd: folder,
    env: { PATH: process.env.PATH, XDG_STATE_HOME: join(folder, 'state') },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr += text
  })
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
  expect(stderr).toBe('Standard input sent nothing and is ignored. Use - to wait for it.\n')
})

test('a folder is no input, and is not taken for nothing', async () => {
  const stdin = openSync(folder, 'r')
  const { code, stdout, stderr } = await start(['run', hello, 'Hi'], { stdin }).ended
  closeSync(stdin)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/standard input {2}Standard input cannot be read: it is a folder\.\n {4}→ /)
})
