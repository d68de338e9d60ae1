import { columns, leftWidth, paragraph, type Row } from '../terminal/columns.ts'
import { exitCodes } from '../terminal/exit-codes.ts'
import { type CommandSpec, commands, commonFlags, type FlagSpec, signatureOf, usageOf } from './command-specs.ts'

/** Text of `troupe --help` or `troupe help COMMAND`. */
export function helpText(command?: CommandSpec, maxWidth?: number): string {
  const sections = command ? commandHelp(command, maxWidth) : overview(maxWidth)
  return `${sections.map((section) => section.join('\n')).join('\n\n')}\n`
}

type Section = readonly string[]

/** `approvals ACTION [NAME ...]`: the actions are listed in its own help. */
const shortSignature = (command: CommandSpec): string =>
  signatureOf({
    ...command,
    arguments: command.arguments.map(({ choices = [], ...argument }) => (choices.length === 1 ? { ...argument, choices } : argument)),
  })

function overview(maxWidth: number | undefined): readonly Section[] {
  return [
    paragraph('Troupe: an agent is a file, every agent is a tool, every run is a journal.', maxWidth),
    ['Usage', '  troupe COMMAND [arguments] [options]', '  troupe FILE.ai [PROMPT] [options]'],
    [
      'Commands',
      ...columns(
        commands.map((each): Row => [shortSignature(each), each.summary]),
        { maxWidth },
      ),
    ],
    ['Options', ...columns(commonFlags.map(flagRow), { maxWidth })],
    [
      'Examples',
      ...columns(
        [
          ['troupe demo', 'watch a team fix a test'],
          ['troupe run trip.ai "A weekend in Oslo"', 'run an agent'],
          ['troupe help run', 'show all options of run'],
          ['troupe help agent-file', 'show all settings of an agent file'],
        ],
        { maxWidth },
      ),
    ],
    exitCodeSection(maxWidth),
  ]
}

function commandHelp(command: CommandSpec, maxWidth: number | undefined): readonly Section[] {
  const sections: Section[] = [paragraph(`${command.summary}.`, maxWidth), ['Usage', `  ${usageOf(command)}`]]
  if (command.arguments.length > 0)
    sections.push([
      'Arguments',
      ...columns(
        command.arguments.map(({ name, summary }): Row => [name, summary]),
        { maxWidth },
      ),
    ])
  const groups = [...command.groups, { title: command.groups.length > 0 ? 'Other options' : 'Options', flags: commonFlags }]
  // One width for all groups, so that the summaries are aligned.
  const left = leftWidth(groups.flatMap(({ flags }) => flags.map(flagRow)))
  sections.push(...groups.map(({ title, flags }) => [title, ...columns(flags.map(flagRow), { left, maxWidth })]))
  if (command.notes.length > 0) sections.push(command.notes.flatMap((note) => paragraph(note, maxWidth)))
  if (command.examples.length > 0)
    sections.push(['Examples', ...command.examples.flatMap(({ line, summary }) => [`  # ${summary}`, `  ${line}`])])
  if (command.name === 'run') sections.push(exitCodeSection(maxWidth))
  return sections
}

function exitCodeSection(maxWidth: number | undefined): Section {
  return [
    'Exit codes',
    ...columns(
      Object.values(exitCodes).map(({ code, summary }): Row => [String(code), summary]),
      { maxWidth },
    ),
  ]
}

function flagRow({ name, short, value, summary, repeatable }: FlagSpec): Row {
  const written = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
  return [`${written}${repeatable ? ' ...' : ''}`, summary]
}
