import { isInside } from './is-inside.ts'

interface HookSource {
  readonly command?: readonly string[] | undefined
  readonly module?: string | undefined
}

const mostWords = 500

/**
 * Every word of a hook that may be the path of a file which decides what it does: its program, its arguments and the
 * words in them, its module. Where each leads is for whoever looks. What a hook only writes to is left out: the goal of
 * a redirection, and what is named like a log.
 */
export function wordsOfHook({ command, module }: HookSource): readonly string[] {
  const [program = '', ...args] = command ?? []
  const words = [
    ...(module === undefined ? [] : [module]),
    // A program without a slash is looked for elsewhere.
    ...(program.includes('/') ? [program] : []),
    ...args.flatMap((arg) => [arg, ...arg.replaceAll(/>>?\s*\S+/g, ' ').split(separators)]),
  ]
  return [...new Set(words)].filter((word) => word !== '' && word.length <= longestWord && !isWrittenTo.test(word)).slice(0, mostWords)
}

const longestWord = 4_096
const separators = /[\s"'`;|&<>()=,{}]+/
const isWrittenTo = /\.(?:log|jsonl|ndjson|csv|out|tmp|db|sqlite3?)$|^\.{0,2}\/?$/i

/** Whether a word that leads to a path names a file of the system, which no project brings along. */
export const isOfSystem = (word: string, path: string, baseDir: string): boolean =>
  word.startsWith('/') && systemFolders.test(path) && !isInside(baseDir, path)

const systemFolders = /^\/(?:usr|bin|sbin|lib\w*|etc|dev|proc|sys|nix|System|Library)\//
