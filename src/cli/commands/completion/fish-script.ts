import { candidatesCommand } from '../../arguments/command-specs.ts'
import type { CompletedArgument, CompletedCommand, CompletedFlag, Offer } from './completed-commands.ts'

/** For fish 3. Each line has a condition: the command, and the position or action of an argument. */
export function fishScript(commands: readonly CompletedCommand[]): string {
  const valued = new Set(commands.flatMap(({ flags }) => flags.flatMap(({ name, value }) => (value ? [`--${name}`] : []))))
  const lines = commands.flatMap(({ name, summary, flags, arguments: all }) => [
    line('__troupe_at ""', ['-a', name, '-d', fishQuoted(summary)]),
    ...flags.map((flag) => line(`__troupe_at ${name}`, flagOptions(flag))),
    ...all.flatMap((argument) => argumentLine(name, argument)),
  ])
  return `# Completes troupe in fish. Printed by: troupe completion fish

${functions([...valued])}
complete -c troupe -e
complete -c troupe -f
complete -c troupe -n '__troupe_at ""; and string match -q "*[./]*" -- (commandline -ct)' -F
complete -c troupe -n '__troupe_at ""' -s h -l help -d 'Show help and exit'
complete -c troupe -n '__troupe_at ""' -s V -l version -d 'Show the version and exit'
${lines.join('\n')}
`
}

const line = (condition: string, options: readonly string[]): string =>
  ['complete', '-c', 'troupe', '-n', fishQuoted(condition), ...options].join(' ')

function flagOptions({ name, short, summary, value }: CompletedFlag): readonly string[] {
  const written = [...(short === undefined ? [] : ['-s', short]), '-l', name]
  return [...written, ...(value ? ['-r', ...offerOptions(value)] : []), '-d', fishQuoted(summary)]
}

function argumentLine(command: string, argument: CompletedArgument): readonly string[] {
  const { position, isRepeated, actions = [], words, names, paths } = argument
  if (words.length === 0 && names === undefined && paths === undefined) return []
  return [line(['__troupe_at', command, isRepeated ? '+' : position, ...actions].join(' '), offerOptions(argument))]
}

function offerOptions({ words, names, paths }: Offer): readonly string[] {
  const dynamic = [
    ...(names === undefined ? [] : [`(__troupe_names ${names})`]),
    ...(paths === 'folders' ? ['(__fish_complete_directories)'] : []),
  ]
  const offered = [...words, ...dynamic].join(' ')
  return [paths === 'files' ? '-F' : '-f', ...(names === undefined ? [] : ['-k']), ...(offered === '' ? [] : ['-a', fishQuoted(offered)])]
}

/** In single quotes, fish knows two escapes. */
const fishQuoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`

const functions = (
  valued: readonly string[],
): string => `# __troupe_at COMMAND [POSITION [ACTION ...]]: whether the cursor is there. Position +: any.
function __troupe_at
    set -l command
    set -l action
    set -l count 0
    set -l is_value
    set -l only_arguments
    set -l words (commandline -opc)
    for word in $words[2..]
        if test -n "$is_value"
            set is_value
        else if test -z "$only_arguments"; and string match -q -- -- $word
            set only_arguments 1
        else if test -z "$only_arguments"; and string match -qr -- '^-.' $word
            contains -- $word ${valued.join(' ')}; and set is_value 1
        else if test -n "$command"
            set count (math $count + 1)
            test $count = 1; and set action $word
        else if string match -q -- '*.ai' $word
            set command run
            set count 1
        else
            set command $word
        end
    end
    test "$command" = "$argv[1]"; or return 1
    set -q argv[2]; or return 0
    contains -- $argv[2] + (math $count + 1); or return 1
    set -q argv[3]; or return 0
    contains -- "$action" $argv[3..]
end

# __troupe_names KIND: names that troupe knows, with descriptions.
function __troupe_names
    set -l folder
    set -l words (commandline -opc)
    for i in (seq (count $words))
        if test "$words[$i]" = --data-dir
            set folder $words[(math $i + 1)]
        else if string match -q -- '--data-dir=*' $words[$i]
            set folder (string replace -- --data-dir= '' $words[$i])
        end
    end
    command troupe ${candidatesCommand} $argv[1] (string replace -r -- '^~/' "$HOME/" "$folder") 2>/dev/null </dev/null
end
`
