import { candidatesCommand } from '../../arguments/command-specs.ts'
import { type CompletedArgument, type CompletedCommand, type CompletedFlag, type Offer, quoted } from './completed-commands.ts'

/** For zsh 5. The work is done by `_arguments`, which completes flags and arguments from specifications. */
export function zshScript(commands: readonly CompletedCommand[]): string {
  const cases = commands.map((command) => {
    const specs = [...command.flags.flatMap(flagSpecs), ...argumentSpecs(command.arguments)]
    return `    (${command.name})\n      _arguments -S : \\\n        ${specs.map(quoted).join(' \\\n        ')}\n      ;;`
  })
  const described = commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`)
  return `# Completes troupe in zsh. Printed by: troupe completion zsh

_troupe() {
  local curcontext=$curcontext context state state_descr line
  typeset -A opt_args
  _arguments -C : '(- *)'{-h,--help}'[Show help and exit]' '(- *)'{-V,--version}'[Show the version and exit]' \\
    '1:command:_troupe_commands' '*::argument:->arguments' && return
  [[ $state == arguments ]] || return
  # An agent file instead of a command is run.
  if [[ $words[1] == *.ai ]]; then words=(run "$words[@]"); ((CURRENT++)); fi
  case $words[1] in
${cases.join('\n')}
  esac
}

_troupe_commands() {
  local -a commands=(
${described.join('\n')}
  )
  _describe -t commands command commands || _files
}

${functions}`
}

function flagSpecs({ name, short, summary, repeatable, excludes = [], value }: CompletedFlag): readonly string[] {
  const written = [...(short === undefined ? [] : [`-${short}`]), `--${name}`]
  const others = excludes.map((other) => `--${other}`)
  const excluded = [...(repeatable ? [] : written), ...others].join(' ')
  const before = repeatable ? '*' : excluded === '' ? '' : `(${excluded})`
  const after = value ? `=[${escaped(summary)}]:${escaped(value.placeholder)}:${action(value)}` : `[${escaped(summary)}]`
  return written.map((each) => `${before}${each}${after}`)
}

/** What depends on the action is one specification, which covers all arguments after the action. */
function argumentSpecs(all: readonly CompletedArgument[]): readonly string[] {
  const [one, several] = [false, true].map((repeated) =>
    all.find(({ actions, isRepeated }) => actions !== undefined && isRepeated === repeated),
  )
  const fixed = all.filter(({ actions }) => actions === undefined)
  const specs = fixed.map((each) => `${each.isRepeated ? '*' : each.position}:${escaped(each.placeholder)}:${action(each)}`)
  if (!one || !several) return specs
  const lists = [one, several].map(({ actions = [] }) => `"${actions.join(' ')}"`).join(' ')
  return [...specs, `*:${escaped(one.placeholder)}:{_troupe_after ${lists} && ${call(one)}}`]
}

const action = (offer: Offer): string => {
  const isText = offer.words.length === 0 && offer.names === undefined && offer.paths === undefined
  return isText ? ' ' : `{${call(offer)}}`
}

const call = ({ words, names, paths }: Offer): string => ['_troupe_offer', names ?? '-', paths ?? '-', ...words].join(' ')

/** In a specification. */
const escaped = (text: string): string => text.replace(/[\\:[\]]/g, '\\$&')

const functions = `# _troupe_offer NAMES PATHS [WORD ...]: words, names of troupe, and files or folders. A dash: none.
_troupe_offer() {
  local -a names shown expl
  local name folder ret=1
  # Flags are completed by _arguments.
  [[ $PREFIX == -* ]] && return 1
  if (( $# > 2 )); then
    _wanted values expl value compadd -- "\${@[3,-1]}" && ret=0
  fi
  if [[ $1 != - ]]; then
    folder=\${(Q)words[(R)--data-dir=*]#*=}
    (( $words[(I)--data-dir] )) && folder=\${(Q)words[$words[(I)--data-dir] + 1]}
    for name in \${(f)"$(command troupe ${candidatesCommand} $1 "\${folder/#\\~\\//$HOME/}" 2>/dev/null </dev/null)"}; do
      names+=("\${name%%$'\\t'*}")
      shown+=("\${name/$'\\t'/  -- }")
    done
    _wanted -V names expl \${1%%-*} compadd -l -d shown -a -- names && ret=0
  fi
  case $2 in
    (folders) _files -/ && ret=0 ;;
    (files) if (( ret )); then _files && ret=0; else _files -/; fi ;;
  esac
  return ret
}

# _troupe_after ONE SEVERAL: whether the action takes another name. ONE, SEVERAL: the actions that take so many.
_troupe_after() {
  [[ " $2 " == *" $line[1] "* || ( " $1 " == *" $line[1] "* && $#line -le 2 ) ]] || { _message 'no more arguments'; return 1 }
}

(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _troupe troupe
`
