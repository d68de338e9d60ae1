import { candidatesCommand } from '../../arguments/command-specs.ts'
import { type CompletedArgument, type CompletedCommand, type Offer, quoted } from './completed-commands.ts'

/** For bash 4.4 or newer. Three tables of what can be typed, and a function that finds the place in them. */
export function bashScript(commands: readonly CompletedCommand[]): string {
  const flags = commands.map(({ name, flags: all }) =>
    entry(
      name,
      all.flatMap(({ name: long, short }) => [`--${long}`, ...(short ? [`-${short}`] : [])]),
    ),
  )
  const values = commands.flatMap(({ name, flags: all }) =>
    all.flatMap(({ name: flag, value }) => (value ? [entry(`${name} --${flag}`, offerWords(value))] : [])),
  )
  const places = commands.flatMap(({ name, arguments: all }) => all.flatMap((argument) => argumentEntries(name, argument)))
  return `# Completes troupe in bash. Printed by: troupe completion bash
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then

# What can be typed, by command, flag, and position or action. @NAME: names of troupe. /files, /folders: paths.
_troupe_commands=${quoted(commands.map(({ name }) => name).join(' '))}
${table('_troupe_flags', flags)}
${table('_troupe_values', values)}
${table('_troupe_arguments', places)}

${functions}
complete -F _troupe troupe

fi
`
}

type Entry = readonly [key: string, words: readonly string[]]

const entry = (key: string, words: readonly string[]): Entry => [key, words]

const table = (name: string, entries: readonly Entry[]): string =>
  [`declare -gA ${name}=(`, ...entries.map(([key, words]) => `  [${quoted(key)}]=${quoted(words.join(' '))}`), ')'].join('\n')

const offerWords = ({ words, names, paths }: Offer): readonly string[] => [
  ...words,
  ...(names === undefined ? [] : [`@${names}`]),
  ...(paths === undefined ? [] : [`/${paths}`]),
]

/** `sessions 2 show`: the second argument after this action. `validate +`: every other one. */
function argumentEntries(command: string, argument: CompletedArgument): readonly Entry[] {
  const { position, isRepeated, actions } = argument
  const place = `${command} ${isRepeated ? '+' : position}`
  return (actions?.map((action) => `${place} ${action}`) ?? [place]).map((key) => entry(key, offerWords(argument)))
}

const functions = `_troupe() {
  # Words as they were typed: bash splits them at colons and equals signs.
  local words=() piece line=\${COMP_LINE#*"\${COMP_WORDS[0]}"} i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    piece=\${COMP_WORDS[i]}
    if ((\${#words[@]})) && [[ $line != [[:space:]]* ]]; then words[-1]+=$piece; else words+=("$piece"); fi
    line=\${line#"\${line%%[![:space:]]*}"}
    line=\${line#"$piece"}
  done
  local current=\${words[-1]} kept
  # Bash replaces only the piece after the last colon or equals sign.
  if [[ $piece == [:=]* ]]; then kept=$current; else kept=\${current%"$piece"}; fi
  unset 'words[-1]'

  local word flag= command= action= folder= count=0 only_arguments=
  for word in "\${words[@]}"; do
    if [[ $flag ]]; then
      [[ $flag == --data-dir ]] && folder=$word
      flag=
    elif [[ ! $only_arguments && $word == -- ]]; then
      only_arguments=1
    elif [[ ! $only_arguments && $word == -?* ]]; then
      if [[ $word == --data-dir=* ]]; then folder=\${word#*=}
      elif [[ \${_troupe_values["$command $word"]+known} ]]; then flag=$word
      fi
    elif [[ $command ]]; then
      ((++count == 1)) && action=$word
    elif [[ $word == *.ai?([\\"\\']) ]]; then
      command=run count=1
    else
      command=$word
    fi
  done

  local offer lead=
  if [[ $flag ]]; then
    offer=\${_troupe_values["$command $flag"]}
  elif [[ ! $only_arguments && $current == --*=* ]]; then
    lead=\${current%%=*}=
    current=\${current#*=}
    offer=\${_troupe_values["$command \${lead%=}"]-}
  elif [[ ! $only_arguments && $current == -* ]]; then
    offer=\${_troupe_flags[\${command:--}]---help --version}
  elif [[ ! $command ]]; then
    offer="$_troupe_commands /otherwise-files"
  else
    local place="$command $((count + 1))" others="$command +"
    offer=\${_troupe_arguments["$place $action"]-\${_troupe_arguments["$place"]-\${_troupe_arguments["$others $action"]-\${_troupe_arguments["$others"]-}}}}
  fi
  _troupe_offer
}

# Uses the variables of _troupe.
_troupe_offer() {
  local names=() found=() name options=() IFS=$' \\t\\n'
  # Without its quotes, and without evaluating it.
  [[ $folder == *[\\\\\\'\\"]* ]] && folder=$(xargs printf %s <<<"$folder" 2>/dev/null)
  [[ $folder == '~/'* ]] && folder=$HOME\${folder#'~'}
  for word in $offer; do
    case $word in
      /otherwise-files) options+=(-o default) ;;
      # Readline would complete what follows a colon as a path of its own.
      /files) [[ $kept == "$lead" ]] && options+=(-o filenames -o plusdirs -o default) ;;
      /folders) [[ $kept == "$lead" ]] && options+=(-o filenames -o plusdirs) ;;
      @*)
        mapfile -t found < <(command troupe ${candidatesCommand} "\${word#@}" "$folder" 2>/dev/null </dev/null)
        names+=("\${found[@]%%$'\\t'*}")
        ;;
      *) names+=("$word") ;;
    esac
  done
  # The quotes of an unfinished word are not part of the name.
  local open=
  [[ $current == [\\"\\']* ]] && open=\${current:0:1} current=\${current:1}
  current=\${current//\\\\/} kept=\${kept//\\\\/}
  COMPREPLY=()
  for name in "\${names[@]}"; do
    [[ $name == "$current"* ]] || continue
    name=$lead$name
    name=\${name#"$kept"}
    if ((\${#options[@]})); then
      # Readline quotes the names of files, but a dollar sign only if there is the file.
      [[ $name == *\\$* && ! -e \${name#"$lead"} ]] && continue
    else
      case $open in
        \\") [[ $name == *[\\\\\\"\\$\\\`!]* ]] && continue ;;
        \\') [[ $name == *\\'* ]] && continue ;;
        *) printf -v name %q "$name" ;;
      esac
    fi
    COMPREPLY+=("$name")
  done
  ((\${#options[@]})) && compopt "\${options[@]}"
  [[ $offer == @* ]] && compopt -o nosort
  return 0
}
`
