import { stem } from '../../util/stem.ts'
import { type Source, sourceOf } from './candidates.ts'
import { type Choice, rankTools, type ToolIndex } from './choose-tools.ts'
import { type Filling, fillArguments } from './fill-arguments.ts'
import { fieldsOf, reasonField } from './parameters.ts'
import { articles, conjunctions, isCommonAction, isStopWord, means } from './vocabulary.ts'
import { sentenceEnds, type Word } from './words.ts'

/** How a part of a request is connected with the part before it. */
type Link = 'start' | 'sentence' | 'sequel' | 'and'

interface Segment {
  readonly words: readonly Word[]
  readonly link: Link
  readonly isQuestion: boolean
}

/** A part of a request that asks for one tool. */
export interface Clause {
  readonly words: readonly Word[]
  readonly link: Link
  readonly choice: Choice
}

const sequels = new Set(['then', 'afterwards', 'finally', 'subsequently'])
const extras = new Set(['also', 'additionally', 'moreover'])
const strength: { readonly [L in Link]: number } = { start: 0, and: 1, sentence: 2, sequel: 3 }

/** Cuts at sentences, at "then", at "and" and at commas. A quotation is one word, so it is never cut. */
function segmentsOf(words: readonly Word[]): readonly Segment[] {
  const segments: Segment[] = []
  let current: Word[] = []
  let link: Link = 'start'
  const cut = (next: Link, mark = ''): void => {
    if (current.length > 0) segments.push({ words: current, link, isQuestion: mark === '?' })
    // "and then" is a "then", and so is ". Then".
    if (current.length > 0 || strength[next] > strength[link]) link = next
    current = []
  }
  for (const [at, word] of words.entries()) {
    if (word.startsLine && current.length > 0) cut('sentence')
    if (sentenceEnds.has(word.text)) cut('sentence', word.text)
    else if (sequels.has(word.lower) || (word.lower === 'after' && words[at + 1]?.lower === 'that')) cut('sequel')
    else if (conjunctions.has(word.lower) || word.text === ',' || extras.has(word.lower)) {
      cut('and')
      // Kept with the words after it: it tells a list from two requests.
      if (segments.length > 0) current.push(word)
    } else current.push(word)
  }
  cut('sentence')
  return segments.filter((segment) => segment.words.some((word) => word.kind !== 'mark' && !conjunctions.has(word.lower)))
}

const maxClauses = 12

/** Groups segments around those that ask for a tool. A segment that asks for none belongs to the one before it, or to the first. */
export function clausesOf(text: string, words: readonly Word[], index: ToolIndex): readonly Clause[] {
  const clauses: { words: Word[]; link: Link; choice: Choice; isOpen: boolean }[] = []
  const choose = (part: readonly Word[]): Choice | undefined => chooseTool(text, part, rankTools(part, index, words))
  let before: Word[] = []
  let isContent = false
  for (const segment of segmentsOf(words)) {
    if (clauses.length === maxClauses) break
    if (refusal.test(opening(segment.words)) || (!segment.isQuestion && isStatement(segment.words))) {
      if (clauses.length === 0) before.push(...segment.words)
      continue
    }
    const last = clauses.at(-1)
    const belongsToLast = isContent || (last?.isOpen === true && segment.link === 'and')
    // What follows a colon or "saying" is only passed on.
    const head = segment.words.findIndex((word) => word.text === ':' || word.lower === 'saying')
    const announced = isContent || head < 0 ? undefined : choose(segment.words.slice(0, head))
    const choice = announced ?? (isContent ? undefined : choose(segment.words))
    if (choice && (!belongsToLast || (choice.tool.isAgent && choice.tool !== last?.choice.tool))) {
      clauses.push({ words: [...before, ...segment.words], link: segment.link, choice, isOpen: isDelegation(segment.words, choice) })
      before = []
    } else (last?.words ?? before).push(...segment.words)
    if (head >= 0 && (announced || (!choice && clauses.length > 0))) isContent = true
  }
  return clauses
}

/** Scores that differ less are a tie; then the tool wins whose fields the words fill. */
const nearTie = 0.35

function chooseTool(text: string, words: readonly Word[], [best, ...others]: readonly Choice[]): Choice | undefined {
  const rivals = others.filter(({ score }) => best && best.score - score <= nearTie)
  if (!best || rivals.length === 0) return best
  const rated = [best, ...rivals].map((choice) => ({ choice, ...fillFromClause(text, words, choice) }))
  return rated.toSorted((a, b) => a.missing.length - b.missing.length || b.own - a.own)[0]?.choice
}

/** "Ask the researcher to …": all that follows is the researcher's task. */
function isDelegation(words: readonly Word[], { tool, spent }: Choice): boolean {
  return tool.isAgent && spent.size > 0 && words.some((word) => /^(?:ask|tell|let|have)$/.test(word.lower))
}

const refusal = /^(?:please )?(?:do not|don't|don’t|never|no need to)\b/
const statement =
  /^(?:thanks?(?: you)? )?(?:i|we|you|he|she|it|they|this|that|my|our|your|the|these|those|nice|what a)\b.*\b(?:am|is|are|was|were|love|loves|loved|like|likes|hate|hates|enjoy|enjoyed|feel|seems?|looks?)\b/
const wish = /\b(?:want|need|would|'d|’d|like to|must|should|what|which|who|when|where|how|whether|if|please|can|could)\b|['’]d like/

/** "I love trains" asks for nothing. */
const isStatement = (words: readonly Word[]): boolean => statement.test(opening(words)) && !wish.test(opening(words))

function opening(words: readonly Word[]): string {
  const spoken = words.filter((word) => word.kind !== 'mark' && !conjunctions.has(word.lower)).slice(0, 12)
  return spoken.map(({ lower }) => lower).join(' ')
}

/** The arguments that the clause alone gives to the tool. */
export function fillFromClause(text: string, words: readonly Word[], choice: Choice): Filling {
  const clause = clauseSource(text, words, choice)
  return fillArguments(choice.tool.tool, { clause, task: '', around: [], earlier: [], results: [] })
}

/** A clause as a source of arguments. Words that chose the tool, name its fields or open the clause are not values. */
export function clauseSource(text: string, words: readonly Word[], { tool: { tool }, spent }: Choice): Source {
  const fields = fieldsOf(tool.inputSchema, reasonField(tool))
  const labels = [...new Set(fields.flatMap(({ parameter }) => [...parameter.words, ...(parameter.role === 'content' ? textLabels : [])]))]
  const meaningful = words.filter((word) => word.kind === 'word' && !isStopWord(word.stem))
  const first = meaningful[0]
  const verbs = first && isCommonAction(first.stem) && words.indexOf(first) < 4 ? [first] : []
  const named = meaningful.filter((word) => labels.some((each) => means(each, word.stem)))
  return sourceOf(text, words, new Set([...spent, ...verbs, ...named]))
}
const textLabels = ['text', 'message', 'words', 'line'].map(stem)

/** A clause as a task for another agent: without "please", "can you" and "ask the researcher to". */
export function taskText(clause: Pick<Clause, 'words' | 'choice'>, text: string): string {
  return textBetween(text, taskWords(clause))
}

export function taskWords({ words, choice: { tool, spent } }: Pick<Clause, 'words' | 'choice'>): readonly Word[] {
  const at = words.findIndex((word) => !isTaskOpening(word))
  const first = at < 0 ? words.length : at
  const lower = words[first]?.lower ?? ''
  const isNamed = tool.isAgent && articles.has(lower) && spent.has(words[first + 1] as Word)
  return words.slice(isNamed || addressing.has(lower) ? afterAddress(words, first, spent) : first)
}

/** The text from the first of these words to the last. */
export function textBetween(text: string, words: readonly Word[]): string {
  const [first, last] = [words[0], words.at(-1)]
  if (!first || !last) return ''
  const end = /[.?!]/.test(text[last.end] ?? '') ? last.end + 1 : last.end
  return text.slice(first.start, end).trim()
}

const taskOpeners = new Set('please can could would will you kindly now also then hi hello hey i we want need us to'.split(' '))
const isTaskOpening = (word: Word): boolean =>
  taskOpeners.has(word.lower) || conjunctions.has(word.lower) || (word.kind === 'mark' && word.text !== '+')

const addressing = new Set('ask tell let have get use call'.split(' '))
const bridges = new Set(['to', 'that', ',', ':', 'and', 'agent', 'please'])

/** Where the task begins after "ask the researcher to". The name is near the verb; later words like it belong to the task. */
function afterAddress(words: readonly Word[], from: number, spent: ReadonlySet<Word>): number {
  const name = words.findIndex((word, at) => at >= from && at <= from + 4 && spent.has(word))
  if (name < 0) return from
  const task = words.findIndex((word, at) => at > name && !bridges.has(word.lower))
  return task < 0 ? words.length : task
}
