import { describe, expect, test } from 'vitest'
import { findCommand } from './command-specs.ts'
import { type Invocation, parseArguments } from './parse-arguments.ts'

const wishes = { detail: 'normal', logFormat: 'text', color: 'auto' } as const
const none = { settings: [], models: [], flags: [] } as const
const run = {
  kind: 'run',
  file: 'a.ai',
  output: 'answer',
  wishes,
  overrides: none,
  dryRun: false,
  isTrusted: false,
  allow: [],
  deny: [],
} as const

describe('what is understood', () => {
  const lines: readonly [line: readonly string[], invocation: Invocation][] = [
    [['run', 'a.ai'], run],
    [['run', 'a.ai', 'Do it'], { ...run, prompt: 'Do it' }],
    [['run', 'a.ai', '-'], { ...run, prompt: '-' }],
    [['a.ai', 'Do it'], { ...run, prompt: 'Do it' }],
    [['run', 'a.ai', '--', '--json'], { ...run, prompt: '--json' }],
    [['run', '--json', 'a.ai', '-q'], { ...run, output: 'json', wishes: { ...wishes, detail: 'quiet' } }],
    [['--stream-json', 'run', 'a.ai'], { ...run, output: 'stream-json' }],
    [['run', 'a.ai', '--data-dir', 'x', '--data-dir=y'], { ...run, dataDir: 'y' }],
    [
      ['run', 'a.ai', '-v', '--log-format=json', '--color', 'never'],
      { ...run, wishes: { detail: 'verbose', logFormat: 'json', color: 'never' } },
    ],
    [['run', 'a.ai', '--color=never', '--color=always'], { ...run, wishes: { ...wishes, color: 'always' } }],
    [['run', 'a.ai', '--model', 'a/b', '--model=c'], { ...run, overrides: { ...none, models: ['a/b', 'c'] } }],
    [
      ['run', 'a.ai', '--override', 'limits.maxRetries=2', '--override=models=[a, b]'],
      { ...run, overrides: { ...none, settings: ['limits.maxRetries=2', 'models=[a, b]'] } },
    ],
    [
      ['run', 'a.ai', '--max-cost', '0.5', '--time-budget=10m', '--max-cost=1'],
      {
        ...run,
        overrides: {
          ...none,
          flags: [
            { name: 'max-cost', value: '0.5' },
            { name: 'time-budget', value: '10m' },
            { name: 'max-cost', value: '1' },
          ],
        },
      },
    ],
    [['run', 'a.ai', '--trust', '--config', 'c.json'], { ...run, isTrusted: true, configFile: 'c.json' }],
    [['run', 'a.ai', '--dry-run', '--json'], { ...run, dryRun: true, output: 'json' }],
    [['demo'], { kind: 'demo', output: 'answer', wishes }],
    [['validate', 'a.ai', 'b', '--json'], { kind: 'validate', paths: ['a.ai', 'b'], output: 'json', wishes }],
    [['demo', '--json', '-q'], { kind: 'demo', output: 'json', wishes: { ...wishes, detail: 'quiet' } }],
    [['help', 'agent-file'], { kind: 'help', about: { kind: 'agent-file' } }],
    [['--version'], { kind: 'version' }],
    [['run', '--wrong', '-V'], { kind: 'version' }],
    [[], { kind: 'nothing' }],
    [['--help'], { kind: 'help' }],
    [['help'], { kind: 'help' }],
    [['help', 'run'], { kind: 'help', about: { kind: 'command', command: findCommand('run')! } }],
    [['run', '--help'], { kind: 'help', about: { kind: 'command', command: findCommand('run')! } }],
    [
      ['run', 'a.ai', '-h', '--override=a=b'],
      { kind: 'help', about: { kind: 'agent', file: 'a.ai', overrides: { ...none, settings: ['a=b'] } } },
    ],
  ]
  test.each(lines)('%j', (line, invocation) => {
    expect(parseArguments(line)).toEqual({ ok: true, invocation })
    expect(parseArguments(['run', '--stream-json', '--log-format=json', '--color=always'])).toMatchObject({
      ok: false,
      output: 'stream-json',
      wishes: { logFormat: 'json', color: 'always' },
    })
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
    [['--verion'], ['--verion: There is no such flag. Did you mean --version?', 'troupe: A command is missing. Try: troupe demo']],
    [['rnu', 'a.ai'], ['rnu: There is no such command. Did you mean run?']],
    [
      ['nonsense'],
      [
        'nonsense: There is no such command. There are run, demo, validate, agents, init, doctor, config, trust, sessions, approvals, skills, help.',
      ],
    ],
    [['help', 'dmo'], ['dmo: There is no help about it. Did you mean demo?']],
    [['help', 'agent-fil'], ['agent-fil: There is no help about it. Did you mean agent-file, agents?']],
    [['agents', 'lst'], ['ACTION: It is list, not "lst". Usage: troupe agents list [options]']],
    [['doctor', 'x'], ['x: doctor takes no arguments. Leave it out.']],
    [['run', ''], ['FILE: It is empty. Give the agent, a .ai file or one of another program.']],
    [['run'], ['FILE: It is missing. Give the agent, a .ai file or one of another program.']],
    [['run', 'a.ai', 'Do', 'it', 'now'], ['it now: run takes 2 arguments. Put the prompt in quotes.']],
    [['demo', 'x'], ['x: demo takes no arguments. Leave it out.']],
    [
      ['demo', '--model', 'x'],
      ['--model: demo has no such flag. There are --json, --quiet, --verbose, --log-format, --color, --help, --version.'],
    ],
    [['help', '--json'], ['--json: help has no such flag. There are --help, --version.']],
    [['run', 'a.ai', '--color'], ['--color: It needs a value. Write --color=auto|always|never.']],
    [
      ['run', 'a.ai', '--color', 'blue', '--log-format=xml'],
      [
        '--color: It takes auto or always or never, not "blue". Write --color=auto|always|never.',
        '--log-format: It takes text or json, not "xml". Write --log-format=text|json.',
      ],
    ],
    [['run', 'a.ai', '-qv'], ['-q: It cannot be combined with --verbose. Leave one of them out.']],
    [['run', 'a.ai', '--dry-run', '--stream-json'], ['--dry-run: It cannot be combined with --stream-json. Leave one of them out.']],
    [['run', 'a.ai', '--model', '--override='], ['--model: It needs a value. Write --model=NAME.']],
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
        `-x: run has no such flag. There are --model, --override, --config, --allow, --deny, --trust, --dry-run, --max-steps, --max-tokens, --time-budget, --max-cost, --json, --stream-json, --quiet, --verbose, --log-format, --color, --resume, --data-dir, --help and 1 more. ${prompt}`,
        '--quiet: It is a switch and takes no value. Write --quiet.',
        'FILE: It is missing. Give the agent, a .ai file or one of another program.',
      ],
    ],
  ]
  test.each(lines)('%j', (line, problems) => {
    expect(problemsOf(line)).toEqual(problems)
  })

  test('it is a usage error that names the way on, as JSON where asked', () => {
    expect(parseArguments(['run', '--json'])).toMatchObject({
      ok: false,
      output: 'json',
      error: {
        code: 'usage',
        message: 'The command line has a problem.',
        remedy: 'Usage: troupe run FILE [PROMPT] [options]. More: troupe help run',
      },
    })
    expect(parseArguments(['rum', 'x'])).toMatchObject({
      ok: false,
      output: 'answer',
      error: { remedy: 'See what there is: troupe --help' },
    })
    expect(parseArguments(['run', '--stream-json', '--log-format=json', '--color=always'])).toMatchObject({
      ok: false,
      output: 'stream-json',
      wishes: { logFormat: 'json', color: 'always' },
    })
  })
})
