import { exactText } from './exact-text.ts'
import { shellWord } from './shell-word.ts'

/** A text quoted as one word for a shell. Invisible and control characters are written as bytes. */
export function typedWord(word: string): string {
  const characters = [...word]
  if (!characters.some(isUnseen)) return shellWord(word)
  const written = characters.map((each) => (isUnseen(each) ? bytesOf(each) : each.replace(/[\\']/, '\\$&')))
  return `$'${written.join('')}'`
}

const isUnseen = (character: string): boolean => character === '\n' || character === '\t' || exactText(character) !== character

const bytesOf = (character: string): string => [...new TextEncoder().encode(character)].map(byteOf).join('')
const byteOf = (byte: number): string => `\\x${byte.toString(16).padStart(2, '0')}`
