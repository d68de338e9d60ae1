import { stem } from '../../util/stem.ts'
import { type Source, sourceOf } from './candidates.ts'
import type { Choice } from './choose-tools.ts'
import { fieldsOf } from './fields.ts'
import { type Filling, fillArguments } from './fill-arguments.ts'
import { type Parameter, reasonField } from './parameters.ts'
import { isCommonAction, isStopWord, means } from './vocabulary.ts'
import type { Word } from './words.ts'

/** A clause as arguments of the chosen tool are read from it. */
export function clauseSource(text: string, words: readonly Word[], choice: Choice): Source {
  return sourceOf(text, words, spentWords(words, choice))
}

/** What the clause alone gives to the tool. */
export function fillFromClause(text: string, words: readonly Word[], choice: Choice): Filling {
  const clause = clauseSource(text, words, choice)
  return fillArguments(choice.tool.tool, { clause, task: '', around: [], earlier: [], results: [] })
}

/** Words that chose the tool, name its fields or open the clause are no values. */
function spentWords(words: readonly Word[], { tool, spent }: Choice): ReadonlySet<Word> {
  const labels = [...new Set(fieldsOf(tool.tool.inputSchema, reasonField(tool.tool)).flatMap(({ parameter }) => labelsOf(parameter)))]
  const isLabel = (word: Word): boolean => word.kind === 'word' && !isStopWord(word.stem) && labels.some((label) => means(label, word.stem))
  const first = words.find((word) => word.kind === 'word' && !isStopWord(word.stem))
  const opening = first && isCommonAction(first.stem) && words.indexOf(first) < 4 ? [first] : []
  return new Set([...spent, ...opening, ...words.filter(isLabel)])
}

const textLabels = ['text', 'message', 'words', 'line'].map(stem)

/** What people call a field: its name, or for a text just that. */
function labelsOf({ words, role }: Parameter): readonly string[] {
  return role === 'content' ? [...words, ...textLabels] : words
}
