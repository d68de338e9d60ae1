import { describe, expect, test } from 'vitest'
import { findCommand } from './command-specs.ts'
import { type Invocation, parseArguments } from './parse-arguments.ts'

const display = { detail: 'normal', logFormat: 'text', color: 'auto' } as const
const none = { settings: [], models: [], flags: [] } as const
const run = {
  kind: 'run',
  file: 'a.ai',
  output: 'answer',
  display,
  overrides: none,
  dryRun: false,
  isTrusted: false,
  allow: [],
  deny: [],
} as const

describe('valid arguments', () => {
  const lines: readonly [line: readonly string[], invocation: Invocation][] = [
    [['run', 'a.ai'], run],
    [['run', 'a.ai', 'Do it'], { ...run, prompt: 'Do it' }],
    [['completion', 'zsh'], { kind: 'completion', shell: 'zsh' }],
    [['__complete', 'session', '--x'], { kind: 'candidates', name: 'session', dataDir: '--x' }],
    [['__complete', 'session', ''], { kind: 'candidates', name: 'session', dataDir: undefined }],
    [['__complete'], { kind: 'candidates', name: '', dataDir: undefined }],
    [['run', 'a.ai', '-'], { ...run, prompt: '-' }],
    [['a.ai', 'Do it'], { ...run, prompt: 'Do it' }],
    [['run', 'a.ai', '--', '--json'], { ...run, prompt: '--json' }],
    [['run', '--json', 'a.ai', '-q'], { ...run, output: 'json', display: { ...display, detail: 'quiet' } }],
    [['--stream-json', 'run', 'a.ai'], { ...run, output: 'stream-json' }],
    [['run', 'a.ai', '--data-dir', 'x', '--data-dir=y'], { ...run, dataDir: 'y' }],
    [
      ['run', 'a.ai', '-v', '--log-format=json', '--color', 'never'],
      { ...run, display: { detail: 'verbose', logFormat: 'json', color: 'never' } },
    ],
    [['run', 'a.ai', '--color=never', '--color=always'], { ...run, display: { ...display, color: 'always' } }],
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
    [['demo'], { kind: 'demo', output: 'answer', display }],
    [['validate', 'a.ai', 'b', '--json'], { kind: 'validate', paths: ['a.ai', 'b'], output: 'json', display }],
    [
      ['demo', '--web', '--port', '4000', '--no-open'],
      { kind: 'demo', output: 'answer', display, web: { port: '4000', dataDir: undefined, opens: false } },
    ],
    [['demo', '--json', '-q'], { kind: 'demo', output: 'json', display: { ...display, detail: 'quiet' } }],
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
      display: { logFormat: 'json', color: 'always' },
    })
  })
})

test('a flag that has a value in another command only has none', () => {
  expect(parseArguments(['mcp', 'list', '--connect', '--json'])).toMatchObject({ ok: true, invocation: { connects: true } })
  expect(parseArguments(['chat', '--connect', 'http://127.0.0.1:3900'])).toMatchObject({
    ok: true,
    invocation: { connect: 'http://127.0.0.1:3900' },
  })
})

describe('invalid arguments', () => {
  const problemsOf = (line: readonly string[]) => {
    const parsed = parseArguments(line)
    return parsed.ok
      ? expect.unreachable('it was understood')
      : parsed.error.problems.map(({ place, message, remedy }) => `${place}: ${message} ${remedy}`)
  }
  const prompt = 'If it is part of the prompt, write -- before the prompt.'

  const lines: readonly [line: readonly string[], problems: readonly string[]][] = [
    [['--verion'], ['--verion: Unknown flag. Did you mean --version?', 'troupe: The command is missing. Try: troupe demo']],
    [['rnu', 'a.ai'], ['rnu: Unknown command. Did you mean run?']],
    [
      ['nonsense'],
      [
        'nonsense: Unknown command. Available: run, chat, demo, up, serve, token, audit, webhooks, extensions, events, schedules, validate, agents, init, doctor, config, trust, sessions, usage, store and 6 more.',
      ],
    ],
    [['help', 'dmo'], ['dmo: Unknown help topic. Did you mean demo?']],
    [['help', 'agent-fil'], ['agent-fil: Unknown help topic. Did you mean agent-file, agents?']],
    [['agents', 'lst'], ['ACTION: Unknown action "lst". Use list.']],
    [['doctor', 'x'], ['x: The command doctor takes no arguments. Remove it.']],
    [['run', ''], ['FILE: The argument is empty. Pass an agent file.']],
    [['run'], ['FILE: The argument is missing. Agent file: .ai, or a file of another program.']],
    [['run', 'a.ai', 'Do', 'it', 'now'], ['it now: Too many arguments: run takes FILE and PROMPT. Put the prompt in quotes.']],
    [['agents', 'list', 'x'], ['x: The command agents list takes no arguments. Remove it.']],
    [['config', 'show', 'a.ai', 'x'], ['x: Too many arguments: config show takes FILE. Remove it.']],
    [['demo', '--no-open'], ['--no-open: Has no effect without --web. Add --web, or remove it.']],
    [['demo', 'x'], ['x: The command demo takes no arguments. Remove it.']],
    [
      ['demo', '--model', 'x'],
      [
        '--model: The command demo has no such flag. Available: --web, --port, --no-open, --data-dir, --json, --quiet, --verbose, --log-format, --color, --help, --version.',
      ],
    ],
    [['help', '--json'], ['--json: The command help has no such flag. Available: --help, --version.']],
    [['run', 'a.ai', '--color'], ['--color: This flag needs a value. Use --color auto, --color always or --color never.']],
    [
      ['run', 'a.ai', '--color', 'blue', '--log-format=xml'],
      [
        '--color: Unknown value "blue". Use --color auto, --color always or --color never.',
        '--log-format: Unknown value "xml". Use --log-format text or --log-format json.',
      ],
    ],
    [['run', 'a.ai', '-qv'], ['-q: Cannot be combined with --verbose. Remove one of them.']],
    [['run', 'a.ai', '--dry-run', '--stream-json'], ['--dry-run: Cannot be combined with --stream-json. Remove one of them.']],
    [['run', 'a.ai', '--model', '--override='], ['--model: This flag needs a value. Write --model=NAME.']],
    [['run', 'a.ai', '--json=yes'], ['--json: This flag takes no value. Write --json.']],
    [['run', 'a.ai', '--data-dir'], ['--data-dir: This flag needs a value. Write --data-dir=DIR.']],
    [['run', 'a.ai', '--data-dir='], ['--data-dir: This flag needs a value. Write --data-dir=DIR.']],
    [['run', 'a.ai', '--data-dir', '--quiet'], ['--data-dir: This flag needs a value. Write --data-dir=DIR.']],
    [['run', 'a.ai', '--json', '--stream-json'], ['--json: Cannot be combined with --stream-json. Remove one of them.']],
    [
      ['run', '--jsn', '--quite', '-x', '--quiet=1'],
      [
        `--jsn: The command run has no such flag. Did you mean --json? ${prompt}`,
        `--quite: The command run has no such flag. Did you mean --quiet? ${prompt}`,
        `-x: The command run has no such flag. Available: --model, --override, --config, --prompt, --prompt-arg, --allow, --deny, --trust, --strict, --dry-run, --max-steps, --max-tokens, --max-cost, --time-budget, --json, --stream-json, --quiet, --verbose, --log-format, --color and 5 more. ${prompt}`,
        '--quiet: This flag takes no value. Write --quiet.',
        'FILE: The argument is missing. Agent file: .ai, or a file of another program.',
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
        message: 'The command line is invalid.',
        remedy: 'Usage: troupe run FILE [PROMPT] [options]. More: troupe help run',
      },
    })
    expect(parseArguments(['rum', 'x'])).toMatchObject({
      ok: false,
      output: 'answer',
      error: { remedy: 'Run troupe --help.' },
    })
    expect(parseArguments(['run', '--stream-json', '--log-format=json', '--color=always'])).toMatchObject({
      ok: false,
      output: 'stream-json',
      display: { logFormat: 'json', color: 'always' },
    })
  })
})
