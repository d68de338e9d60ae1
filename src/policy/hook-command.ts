import { isInside } from '../util/is-inside.ts'

export interface HookSource {
  readonly command?: readonly string[] | undefined
  readonly module?: string | undefined
}

/** A word that may be the path of a file. What is only named like something that is written to counts if it can be executed. */
export interface HookWord {
  readonly text: string
  readonly included: 'always' | 'if executable'
}

/**
 * Every word of a hook that may be the path of a file which decides what it does. Where each leads is for whoever looks.
 *
 * 1. Its program, its module and each argument as a whole are among them, and so are the words inside of an argument, which may be a
 *    script of a shell, but for the goals of its redirections.
 * 2. What is named like a log counts only if it can be executed, unless it is what is run: the program, the module, the first
 *    argument behind an interpreter that is no option, and in a script what a command of it
 *    runs or is fed (`sh < a.csv`).
 * 3. What a shell makes of words is not known: patterns, variables, `cd`. Only the folder that a hook runs in is.
 */
export function hookWords({ command, module }: HookSource): readonly HookWord[] {
  const [program = '', ...args] = command ?? []
  const here = args.map((arg) => arg.replaceAll(workingFolder, './'))
  const commands = here.filter((arg) => isScript.test(arg)).flatMap(commandsIn)
  const run = new Set([
    ...(module === undefined ? [] : [module]),
    // A program without a slash is looked for elsewhere.
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

/** What is run by words of which each may only say how: the first that is not among these, and what their options load. */
function programsAfterPrefix(words: readonly string[]): readonly string[] {
  const run: string[] = []
  for (const [index, word] of words.entries()) {
    const isLoaded = loads.test(words[index - 1] ?? '')
    if (isLoaded || !isPrefixWord(word)) run.push(word)
    if (!isLoaded && !isPrefixWord(word)) break
  }
  return run
}

/** No path can be longer. */
const longestWord = 4_096
const redirection = />>?\s*[^\s;|&<>()`]+/g
/** A shell may be told to run what it is fed. */
const inputFile = /<\s*["']?([^\s;|&<>()`"']+)/g
/** One word alone is an argument, unless it stands behind a shell. */
const isScript = /[\s;|&()`<>]/
const endOfCommand = /[;|&()`\n]+/
const separators = /[\s"'<>=,{}]+/
const isFolder = /^\.{0,2}\/?$/
const isWrittenTo = /\.(?:log|jsonl|ndjson|csv|out|tmp|db|sqlite3?)$/i

/** What may stand before the file that a command runs: options, variables, words of the shell, other programs that run it. */
const isPrefixWord = (word: string): boolean => prefixWord.test(word) || interpreter.test(word.replace(/^.*\//, ''))
const prefixWord = /^(?:-.*|\w+=.*|\d+[smhd]?|\.|!|source|exec|command|builtin|eval|if|then|elif|else|while|until|do)$/
const interpreter =
  /^(?:env|nohup|time|timeout|nice|setsid|stdbuf|sudo|xargs|(?:ba|da|z|k)?sh|node|deno|bun|tsx|python[\d.]*|ruby|perl|php)$/
/** Options that run the file behind them, or say how in a word of their own. */
const loads = /^(?:-[rWX]|--require|--import|--loader)$/

/** A hook runs in the folder of its file. */
const workingFolder = /"?\$(?:PWD\b|\{PWD\})"?\//g
const folderOfHook = /^\/proc\/(?:thread-)?self\/cwd\//

/** Whether a word that leads to a path names what no project brings along: a file of the system, or what a hook is handed when it starts. */
export const isSystemPath = (word: string, path: string, baseDir: string): boolean =>
  word.startsWith('/') && (systemFolders.test(path) || handedOver.test(path)) && !isInside(baseDir, path)

// Below `/proc` and `/dev` there are other ways to any file.
const systemFolders = /^\/(?:usr|bin|sbin|lib\w*|etc|sys|nix|System|Library)\//
const handedOver = /^\/(?:dev\/(?:std(?:in|out|err)|fd\/[012])|proc\/self\/fd\/[012])$/
