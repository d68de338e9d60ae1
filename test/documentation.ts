import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..')

export interface CodeBlock {
  readonly language: string
  /** The file that the block is written to: the second word behind the fence. */
  readonly file?: string
  readonly text: string
}

export const readPage = (page: string): string => readFileSync(join(root, page), 'utf8')

export function codeBlocks(text: string): readonly CodeBlock[] {
  return [...text.matchAll(/^```(\S+)(?: (\S+))?\n([\s\S]*?)^```$/gm)].map(([, language = '', file, body = '']) => ({
    language,
    ...(file !== undefined && { file }),
    text: body,
  }))
}

/** The words of a command line; quotes hold several together. */
export function commandWords(line: string): readonly string[] {
  return (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'))
}
