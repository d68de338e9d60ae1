import { isInside } from './is-inside.ts'

interface HookSource {
  readonly command?: readonly string[] | undefined
  readonly module?: string | undefined
}

/**
 * Every word of a hook that may be the path of a file which decides what it does. Where each leads is for whoever looks.
 *
 * 1. Its program, its module and each argument as a whole are among them, whatever they are called.
 * 2. So are the words inside of an argument, which may be a script of a shell, but for what it only writes to: the goal
 *    of a redirection, and what is named like a log, unless it is what a command of the script runs.
 * 3. What a shell makes of words is not known: patterns, variables, `cd`. Only the folder that a hook runs in is.
 */
export function wordsOfHook({ command, module }: HookSource): readonly string[] {
  const [program = '', ...args] = command ?? []
  const words = [
    ...(module === undefined ? [] : [module]),
    // A program without a slash is looked for elsewhere.
    ...(program.includes('/') ? [program] : []),
    ...args,
    ...args.flatMap((arg) => arg.replaceAll(redirection, ' ').split(endOfCommand).flatMap(wordsOfCommand)),
  ]
  return [...new Set(words.map((word) => word.replace(folderOfHook, './')))].filter(
    (word) => word.length <= longestWord && !isFolder.test(word),
  )
}

function wordsOfCommand(text: string): readonly string[] {
  const here = text.replaceAll(workingFolder, './')
  const run = here.split(/[\s"'{}]+/).find((word) => word !== '' && !isBefore.test(word))
  return here.split(separators).filter((word) => word === run || !isWrittenTo.test(word))
}

/** No path can be longer. */
const longestWord = 4_096
const redirection = />>?\s*[^\s;|&<>()`]+/g
const endOfCommand = /[;|&()`\n]+/
const separators = /[\s"'<>=,{}]+/
const isFolder = /^\.{0,2}\/?$/
const isWrittenTo = /\.(?:log|jsonl|ndjson|csv|out|tmp|db|sqlite3?)$/i

/** What may stand before the file that a command runs: options, variables, words of the shell, other programs that run it. */
const isBefore =
  /^(?:-.*|\w+=.*|\.|!|source|exec|command|builtin|eval|env|nohup|time|sudo|xargs|if|then|elif|else|while|until|do|(?:ba|da|z|k)?sh|node|deno|bun|tsx|python[\d.]*|ruby|perl|php)$/

/** A hook runs in the folder of its file. */
const workingFolder = /"?\$(?:PWD\b|\{PWD\})"?\//g
const folderOfHook = /^\/proc\/(?:thread-)?self\/cwd\//

/** Whether a word that leads to a path names what no project brings along: a file of the system, or what a hook is handed when it starts. */
export const isOfSystem = (word: string, path: string, baseDir: string): boolean =>
  word.startsWith('/') && (systemFolders.test(path) || handedOver.test(path)) && !isInside(baseDir, path)

// Below `/proc` and `/dev` there are other ways to any file.
const systemFolders = /^\/(?:usr|bin|sbin|lib\w*|etc|sys|nix|System|Library)\//
const handedOver = /^\/(?:dev\/(?:std(?:in|out|err)|fd\/[012])|proc\/self\/fd\/[012])$/
