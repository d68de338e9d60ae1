import { isInside } from '../util/is-inside.ts'

export interface HookSource {
  readonly command?: readonly string[] | undefined
  readonly module?: string | undefined
}

/** A word that may be the path of a file. A name like that of a log file is included only if the file is executable. */
interface HookWord {
  readonly text: string
  readonly included: 'always' | 'if executable'
}

/**
 * Every word of a hook that may be the path of a file that decides what the hook does. The caller resolves the paths.
 *
 * 1. Included are its program, its module, each whole argument, and the words inside of an argument, which may be a shell script;
 *    targets of redirections are not.
 * 2. A name like that of a log file is included only if the file is executable, unless it is run: the program, the module, the first
 *    argument of an interpreter that is not an option, and in a script what a command runs or reads as input (`sh < a.csv`).
 * 3. What a shell does with patterns, variables and `cd` is unknown. Only the folder that a hook runs in is known.
 */
export function hookWords({ command, module }: HookSource): readonly HookWord[] {
  const [program = '', ...args] = command ?? []
  const here = args.map((arg) => arg.replaceAll(workingFolder, './'))
  const commands = here.filter((arg) => isScript.test(arg)).flatMap(commandsIn)
  const run = new Set([
    ...(module === undefined ? [] : [module]),
    // A program without a slash is searched in PATH.
    ...(program.includes('/') ? [program] : []),
    ...(isPrefixWord(program) ? programsAfterPrefix(here) : []),
    ...here.flatMap((text) => Array.from(text.matchAll(inputFile), ([, word = '']) => word)),
    ...commands.flatMap((text) => programsAfterPrefix(text.split(/[\s"'{}]+/).filter((word) => word !== ''))),
  ])
  const words = new Set([...run, ...args, ...here.flatMap(commandsIn).flatMap((text) => text.split(separators))])
  const counted = new Map<string, HookWord>()
  for (const word of words) {
    const text = word.replace(folderOfHook, './')
    if (text.length > longestWord || isFolder.test(text) || counted.get(text)?.included === 'always') continue
    counted.set(text, { text, included: run.has(word) || !isWrittenTo.test(text) ? 'always' : 'if executable' })
  }
  return [...counted.values()]
}

const commandsIn = (script: string): readonly string[] => script.replaceAll(redirection, ' ').split(endOfCommand)

/** The files that a command runs: the first word that is not a prefix, and what options of prefixes load. */
function programsAfterPrefix(words: readonly string[]): readonly string[] {
  const run: string[] = []
  for (const [index, word] of words.entries()) {
    const isLoaded = loads.test(words[index - 1] ?? '')
    if (isLoaded || !isPrefixWord(word)) run.push(word)
    if (!isLoaded && !isPrefixWord(word)) break
  }
  return run
}

/** The maximum length of a path. */
const longestWord = 4_096
const redirection = />>?\s*[^\s;|&<>()`]+/g
/** A shell may run its input. */
const inputFile = /<\s*["']?([^\s;|&<>()`"']+)/g
/** A single word is an argument, not a script. */
const isScript = /[\s;|&()`<>]/
const endOfCommand = /[;|&()`\n]+/
const separators = /[\s"'<>=,{}]+/
const isFolder = /^\.{0,2}\/?$/
const isWrittenTo = /\.(?:log|jsonl|ndjson|csv|out|tmp|db|sqlite3?)$/i

/** What may precede the file that a command runs: options, variables, shell keywords, programs that run another one. */
const isPrefixWord = (word: string): boolean => prefixWord.test(word) || interpreter.test(word.replace(/^.*\//, ''))
const prefixWord = /^(?:-.*|\w+=.*|\d+[smhd]?|\.|!|source|exec|command|builtin|eval|if|then|elif|else|while|until|do)$/
const interpreter =
  /^(?:env|nohup|time|timeout|nice|setsid|stdbuf|sudo|xargs|(?:ba|da|z|k)?sh|node|deno|bun|tsx|python[\d.]*|ruby|perl|php)$/
/** Options that load the file that follows. */
const loads = /^(?:-[rWX]|--require|--import|--loader)$/

/** A hook runs in the folder of its file. */
const workingFolder = /"?\$(?:PWD\b|\{PWD\})"?\//g
const folderOfHook = /^\/proc\/(?:thread-)?self\/cwd\//

/** Whether a path is a file of the system, or a standard stream, which no project contains. */
export const isSystemPath = (word: string, path: string, baseDir: string): boolean =>
  word.startsWith('/') && (systemFolders.test(path) || handedOver.test(path)) && !isInside(baseDir, path)

// `/proc` and `/dev` are not included: they lead to any file.
const systemFolders = /^\/(?:usr|bin|sbin|lib\w*|etc|sys|nix|System|Library)\//
const handedOver = /^\/(?:dev\/(?:std(?:in|out|err)|fd\/[012])|proc\/self\/fd\/[012])$/
