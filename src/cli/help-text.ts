import { exitCodes } from './exit-codes.ts'
import { type CommandSpec, commands, commonFlags, type FlagSpec, usageOf } from './options.ts'

/** What `troupe --help` prints, or `troupe help <command>`. */
export function helpText(command?: CommandSpec): string {
  const sections = command ? commandHelp(command) : overview()
  return `${sections.map((section) => section.join('\n')).join('\n\n')}\n`
}

function overview(): readonly (readonly string[])[] {
  return [
    ['Troupe: an agent is a file, every agent is a tool, every run is a journal.'],
    ['Usage', '  troupe COMMAND [arguments] [options]', '  troupe FILE.ai [PROMPT]'],
    ['Commands', ...columns(commands.map((each) => [signature(each), each.summary]))],
    ['Options', ...columns(commonFlags.map(flagRow))],
    exitCodeSection(),
    ['More: troupe help COMMAND'],
  ]
}

function commandHelp(command: CommandSpec): readonly (readonly string[])[] {
  const sections: (readonly string[])[] = [
    [`${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}.`],
    ['Usage', `  ${usageOf(command)}`],
  ]
  if (command.arguments.length > 0) sections.push(['Arguments', ...columns(command.arguments.map(({ name, summary }) => [name, summary]))])
  sections.push(['Options', ...columns([...command.flags, ...commonFlags].map(flagRow))])
  if (command.notes.length > 0) sections.push(command.notes)
  if (command.examples.length > 0) sections.push(['Examples', ...command.examples.map((example) => `  ${example}`)])
  if (command.flags.length > 0) sections.push(exitCodeSection())
  return sections
}

function exitCodeSection(): readonly string[] {
  return ['Exit codes', ...columns(Object.values(exitCodes).map(({ code, summary }) => [String(code), summary]))]
}

const signature = (command: CommandSpec): string =>
  [command.name, ...command.arguments.map(({ name, required }) => (required ? name : `[${name}]`))].join(' ')

function flagRow({ name, short, value, summary }: FlagSpec): readonly [string, string] {
  return [`${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`, summary]
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}
