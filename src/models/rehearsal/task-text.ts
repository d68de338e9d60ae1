import type { Clause } from './clauses.ts'
import { articles, conjunctions } from './vocabulary.ts'
import type { Word } from './words.ts'

/** A clause as a task for somebody else: without "please", "can you" and "ask the researcher to". Empty if nothing is left. */
export function taskText(clause: Pick<Clause, 'words' | 'choice'>, text: string): string {
  return slice(text, taskWords(clause))
}

export function taskWords({ words, choice }: Pick<Clause, 'words' | 'choice'>): readonly Word[] {
  let first = 0
  while (first < words.length && isOpening(words[first])) first += 1
  const isNamed = choice.tool.isAgent && articles.has(words[first]?.lower ?? '') && choice.spent.has(words[first + 1] as Word)
  const isAddressed = isNamed || delegating.has(words[first]?.lower ?? '')
  return words.slice(isAddressed ? afterAddress(words, { from: first, spent: choice.spent }) : first)
}

/** A stretch of the text, from the first of its words to the last. */
export function slice(text: string, words: readonly Word[]): string {
  const [first, last] = [words[0], words.at(-1)]
  if (!first || !last) return ''
  const end = /[.?!]/.test(text[last.end] ?? '') ? last.end + 1 : last.end
  return text.slice(first.start, end).trim()
}

const openers = new Set('please can could would will you kindly now also then hi hello hey i we want need us to'.split(' '))
const isOpening = (word: Word | undefined): boolean =>
  word !== undefined && (openers.has(word.lower) || conjunctions.has(word.lower) || (word.kind === 'mark' && word.text !== '+'))

const delegating = new Set('ask tell let have get use call'.split(' '))
const bridges = new Set(['to', 'that', ',', ':', 'and', 'agent', 'please'])

function afterAddress(words: readonly Word[], { from, spent }: { from: number; spent: ReadonlySet<Word> }): number {
  let at = from
  // The name stands near its verb; words like it further on belong to the task.
  while (at < from + 4 && !spent.has(words[at] as Word)) at += 1
  if (!spent.has(words[at] as Word)) return from
  at += 1
  while (at < words.length && bridges.has(words[at]?.lower ?? '')) at += 1
  return at
}
