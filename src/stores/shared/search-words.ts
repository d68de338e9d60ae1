import { maxIndexedChars } from '../../contracts/index.ts'

/** A word of a text, or one character of a script without spaces between words. */
export interface Word {
  /** Without case and diacritics. */
  readonly word: string
  /** Where it is in the text. */
  readonly start: number
  readonly end: number
}

/** A longer one is compared up to here: it is data, such as an image in base64. */
const maxWordChars = 1000

const asciiOnly = /^[\0-\x7f]*$/
const asciiWord = /[0-9A-Za-z]+/g
/** Letters of scripts without spaces between words. */
const unspaced = String.raw`[[\p{L}\p{M}\p{N}]&&[\p{scx=Hani}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]`
const anyWord = lazyPattern(() => new RegExp(String.raw`(${unspaced})|[[\p{L}\p{N}]--${unspaced}][[\p{L}\p{M}\p{N}]--${unspaced}]*`, 'gv'))
const emoji = String.raw`\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}`

/** A run of characters that are searched as they are: of scripts without spaces, or emoji. */
export const literalRun = lazyPattern(() => new RegExp(String.raw`(${unspaced}+|[${emoji}][${emoji}\u200d\ufe0f]*)`, 'v'))

/**
 * The words of a text: runs of letters and digits. Everything between them only separates. Both stores, texts and searches use this
 * one, so that they agree; a search index gets the words, not the text.
 */
export function wordsOf(text: string): readonly Word[] {
  const isAscii = asciiOnly.test(text)
  const words: Word[] = []
  for (const { 0: found, 1: character, index } of text.matchAll(isAscii ? asciiWord : anyWord()))
    words.push({ word: character ?? folded(found.slice(0, maxWordChars)), start: index, end: index + found.length })
  return words
}

/** Building these patterns takes 2 ms, and most programs do not search. */
function lazyPattern(build: () => RegExp): () => RegExp {
  let pattern: RegExp | undefined
  return () => {
    pattern ??= build()
    return pattern
  }
}

/** Upper case first: it makes `ß` and ligatures equal to their letters. */
function folded(word: string): string {
  if (asciiOnly.test(word)) return word.toLowerCase()
  return word.normalize('NFD').replace(/\p{M}/gu, '').toUpperCase().toLowerCase().replaceAll('ς', 'σ')
}

/** What databases store as it is: without lone surrogates and NUL. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\ufffd')

/** The part of a text that is searched. */
export const searchedText = (text: string): string => storable(text.slice(0, maxIndexedChars))
