import { type AgentOption, agentOptionKeys, agentOptions } from '../../src/agents/index.ts'
import { exitCodes } from '../../src/cli/exit-codes.ts'
import { typeText } from '../../src/cli/option-types.ts'
import { type CommandSpec, commands, commonFlags, type FlagSpec, usageOf } from '../../src/cli/options.ts'

const made =
  '<!-- Made from the options of the code by test/cli/reference.test.ts; to make it anew: TROUPE_WRITE=1 npx vitest run test/cli/reference.test.ts -->'

/** The pages of docs/reference/, by file. */
export const referencePages: { readonly [file: string]: string } = {
  'command-line.md': page([
    ['# Command line', made],
    ['`troupe COMMAND [arguments] [options]`, or `troupe FILE.ai [PROMPT] [options]`.'],
    ...commands.map((command) => commandSection(command)),
    ['## For every command', flagTable(commonFlags)],
    [
      '## Exit codes',
      table(
        ['code', 'meaning'],
        Object.values(exitCodes).map(({ code, summary }) => [String(code), summary]),
      ),
    ],
    [
      '## For programs',
      '`--json` prints one document, whatever happens: `schemas/run-document.schema.json`. `ok` tells whether the exit code is 0.',
      '`--stream-json` prints one document a line: `schemas/stream-event.schema.json`. Durable events have a `seq` without gaps; live ones (`interaction.item.delta`) have none. The last line is `run.completed` where there is an answer, else `run.failed`; it has the exit code and the outcome, or the error where nothing could be started.',
      '`--log-format json` turns everything on standard error into one JSON document a line, with `time`, `level` and `msg`.',
    ],
  ]),
  'agent-file.md': page([
    ['# Agent file', made],
    [
      'An agent is a file: an optional `#!/usr/bin/env troupe` line, settings in YAML between two lines of `---`, then the prompt. A key that is not listed here is an error. `troupe run` can change every setting for one run with `--override key=value`; `output` is replaced as a whole.',
      'Durations are written `500ms`, `30s`, `10m` or `2h`, sizes `512B`, `64KB` or `1MB`; bare numbers are milliseconds and bytes.',
    ],
    [
      table(
        ['key', 'what', 'value', 'default', 'example'],
        agentOptionKeys.map((key) => {
          const option: AgentOption = agentOptions[key]
          const isRequired = option.default === 'required'
          return [code(key), option.summary, typeText(option.type), isRequired ? '**required**' : option.default, code(option.example)]
        }),
      ),
    ],
  ]),
}

function commandSection(command: CommandSpec): readonly string[] {
  return [
    `## ${command.name}`,
    `${capital(command.summary)}: \`${usageOf(command)}\``,
    ...(command.arguments.length > 0
      ? [
          table(
            ['argument', 'what'],
            command.arguments.map(({ name, summary }) => [code(name), summary]),
          ),
        ]
      : []),
    ...command.groups.flatMap(({ title, flags }) => [`### ${capital(command.name)}: ${title.toLowerCase()}`, flagTable(flags)]),
    ...(command.notes.length > 0 ? [command.notes.map((note) => `- ${note}`).join('\n')] : []),
    ['```sh', ...command.examples.flatMap(({ line, summary }) => [`# ${summary}`, line]), '```'].join('\n'),
  ]
}

function flagTable(flags: readonly FlagSpec[]): string {
  return table(
    ['flag', 'what', 'not with'],
    flags.map(({ name, short, value, summary, repeatable, excludes = [] }) => {
      const long = `--${name}${value === undefined ? '' : ` ${value}`}`
      const several = repeatable ? ' (may be repeated)' : ''
      return [
        [...(short === undefined ? [] : [code(`-${short}`)]), code(long)].join(', '),
        `${summary}${several}`,
        excludes.map((other) => code(`--${other}`)).join(', '),
      ]
    }),
  )
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

function page(sections: readonly (readonly string[])[]): string {
  return `${sections.map((section) => section.join('\n\n')).join('\n\n')}\n`
}

function code(text: string): string {
  return `\`${text}\``
}

function capital(text: string): string {
  return `${text[0]?.toUpperCase()}${text.slice(1)}`
}
