import { columns, paragraph, type Row, widest } from './columns.ts'
import { exitCodes } from './exit-codes.ts'
import { type CommandSpec, commands, commonFlags, type FlagSpec, signatureOf, usageOf } from './options.ts'

/** What `troupe --help` prints, or `troupe help <command>`. */
export function helpText(command?: CommandSpec): string {
  const sections = command ? commandHelp(command) : overview()
  return `${sections.map((section) => section.join('\n')).join('\n\n')}\n`
}

type Section = readonly string[]

function overview(): readonly Section[] {
  return [
    ['Troupe: an agent is a file, every agent is a tool, every run is a journal.'],
    ['Usage', '  troupe COMMAND [arguments] [options]', '  troupe FILE.ai [PROMPT] [options]'],
    ['Commands', ...columns(commands.map((each) => [signatureOf(each), each.summary]))],
    ['Options', ...columns(commonFlags.map(flagRow))],
    [
      'Examples',
      ...columns([
        ['troupe demo', 'see a run, without a key or a network'],
        ['troupe run trip.ai "A weekend in Oslo"', 'run an agent'],
        ['troupe help run', 'everything about run'],
        ['troupe help agent-file', 'everything that an agent file may say'],
      ]),
    ],
    exitCodeSection(),
  ]
}

function commandHelp(command: CommandSpec): readonly Section[] {
  const sections: Section[] = [[`${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}.`], ['Usage', `  ${usageOf(command)}`]]
  if (command.arguments.length > 0) sections.push(['Arguments', ...columns(command.arguments.map(({ name, summary }) => [name, summary]))])
  const groups = [...command.groups, { title: command.groups.length > 0 ? 'Others' : 'Options', flags: commonFlags }]
  // One width for all, so that the summaries stand below each other.
  const width = widest(groups.flatMap(({ flags }) => flags.map(flagRow)))
  sections.push(...groups.map(({ title, flags }) => [title, ...columns(flags.map(flagRow), width)]))
  if (command.notes.length > 0) sections.push(command.notes.flatMap(paragraph))
  if (command.examples.length > 0)
    sections.push(['Examples', ...command.examples.flatMap(({ line, summary }) => [`  # ${summary}`, `  ${line}`])])
  if (command.groups.length > 0) sections.push(exitCodeSection())
  return sections
}

function exitCodeSection(): Section {
  return ['Exit codes', ...columns(Object.values(exitCodes).map(({ code, summary }) => [String(code), summary]))]
}

function flagRow({ name, short, value, summary, repeatable }: FlagSpec): Row {
  const written = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
  return [`${written}${repeatable ? ' ...' : ''}`, summary]
}
