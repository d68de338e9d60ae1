import { describe, expect, test } from 'vitest'
import { findCommand } from './options.ts'
import { type Invocation, parseArguments } from './parse-arguments.ts'

const run = { kind: 'run', file: 'a.ai', output: 'answer', quiet: false } as const

describe('what is understood', () => {
  const lines: readonly [line: readonly string[], invocation: Invocation][] = [
    [['run', 'a.ai'], run],
    [['run', 'a.ai', 'Do it'], { ...run, prompt: 'Do it' }],
    [['run', 'a.ai', '-'], { ...run, prompt: '-' }],
    [['a.ai', 'Do it'], { ...run, prompt: 'Do it' }],
    [['run', 'a.ai', '--', '--json'], { ...run, prompt: '--json' }],
    [['run', '--json', 'a.ai', '-q'], { ...run, output: 'json', quiet: true }],
    [['--stream-json', 'run', 'a.ai'], { ...run, output: 'stream-json' }],
    [['run', 'a.ai', '--data-dir', 'x', '--data-dir=y'], { ...run, dataDir: 'y' }],
    [['demo'], { kind: 'demo' }],
    [['--version'], { kind: 'version' }],
    [['run', '--wrong', '-V'], { kind: 'version' }],
    [['--help'], { kind: 'help' }],
    [['help'], { kind: 'help' }],
    [['help', 'run'], { kind: 'help', command: findCommand('run')! }],
    [['run', '--help'], { kind: 'help', command: findCommand('run')! }],
    [['run', 'a.ai', '-h'], { kind: 'help', command: findCommand('run')! }],
  ]
  test.each(lines)('%j', (line, invocation) => {
    expect(parseArguments(line)).toEqual({ ok: true, invocation })
  })
})

describe('what is wrong', () => {
  const problemsOf = (line: readonly string[]) => {
    const parsed = parseArguments(line)
    return parsed.ok
      ? expect.unreachable('it was understood')
      : parsed.error.problems.map(({ place, message, remedy }) => `${place}: ${message} ${remedy}`)
  }
  const prompt = 'If it belongs to the prompt, put -- before the prompt.'

  const lines: readonly [line: readonly string[], problems: readonly string[]][] = [
    [[], ['troupe: A command is missing. Try: troupe demo']],
    [['--verion'], ['--verion: There is no such flag. Did you mean --version?', 'troupe: A command is missing. Try: troupe demo']],
    [['rnu', 'a.ai'], ['rnu: There is no such command. Did you mean run?']],
    [['nonsense'], ['nonsense: There is no such command. There are run, demo, help.']],
    [['help', 'dmo'], ['dmo: There is no such command. Did you mean demo?']],
    [['run'], ['FILE: It is missing. Give the agent, a .ai file.']],
    [['run', 'a.ai', 'Do', 'it', 'now'], ['it now: run takes 2 arguments. Put the prompt in quotes.']],
    [['demo', 'x'], ['x: demo takes no arguments. Leave it out.']],
    [['demo', '--json'], [`--json: demo has no such flag. There are --help, --version. ${prompt}`]],
    [['run', 'a.ai', '--json=yes'], ['--json: It is a switch and takes no value. Write --json.']],
    [['run', 'a.ai', '--data-dir'], ['--data-dir: It needs a value. Write --data-dir=DIR.']],
    [['run', 'a.ai', '--data-dir='], ['--data-dir: It needs a value. Write --data-dir=DIR.']],
    [['run', 'a.ai', '--data-dir', '--quiet'], ['--data-dir: It needs a value. Write --data-dir=DIR.']],
    [['run', 'a.ai', '--json', '--stream-json'], ['--json: It cannot be combined with --stream-json. Leave one of them out.']],
    [
      ['run', '--jsn', '--quite', '-x', '--quiet=1'],
      [
        `--jsn: run has no such flag. Did you mean --json? ${prompt}`,
        `--quite: run has no such flag. Did you mean --quiet? ${prompt}`,
        `-x: run has no such flag. There are --json, --stream-json, --quiet, --data-dir, --help, --version. ${prompt}`,
        '--quiet: It is a switch and takes no value. Write --quiet.',
        'FILE: It is missing. Give the agent, a .ai file.',
      ],
    ],
  ]
  test.each(lines)('%j', (line, problems) => {
    expect(problemsOf(line)).toEqual(problems)
  })

  test('it is a usage error that names the way on, as JSON where asked', () => {
    expect(parseArguments(['run', '--json'])).toMatchObject({
      ok: false,
      json: true,
      error: {
        code: 'usage',
        message: 'The command line has a problem.',
        remedy: 'Usage: troupe run FILE [PROMPT] [options]. More: troupe help run',
      },
    })
    expect(parseArguments(['rum', 'x'])).toMatchObject({ ok: false, json: false, error: { remedy: 'See what there is: troupe --help' } })
  })
})
