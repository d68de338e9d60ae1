import { type Choice, rankTools } from './choose-tools.ts'
import { fillFromClause } from './clause-source.ts'
import type { ToolIndex } from './tool-index.ts'
import { conjunctions } from './vocabulary.ts'
import type { Word } from './words.ts'

/** How a part of a request hangs on what stands before it. */
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
const ends = new Set(['.', '?', '!', ';'])

/** Cuts at sentences, at "then" and at "and" and commas. Quotations stay whole: each is one word. */
function segmentsOf(words: readonly Word[]): readonly Segment[] {
  const segments: Segment[] = []
  let current: Word[] = []
  let link: Link = 'start'
  const cut = (next: Link, mark = ''): void => {
    if (current.length > 0) segments.push({ words: current, link, isQuestion: mark === '?' })
    // "and then" is a "then", ". Then" too.
    if (current.length > 0 || strength[next] > strength[link]) link = next
    current = []
  }
  for (const [at, word] of words.entries()) {
    if (word.startsLine && current.length > 0) cut('sentence')
    if (ends.has(word.text)) cut('sentence', word.text)
    else if (sequels.has(word.lower) || (word.lower === 'after' && words[at + 1]?.lower === 'that')) cut('sequel')
    else if (conjunctions.has(word.lower) || word.text === ',' || extras.has(word.lower)) {
      cut('and')
      // Kept with what follows: it tells a list from two requests.
      if (segments.length > 0) current.push(word)
    } else current.push(word)
  }
  cut('sentence')
  return segments.filter((segment) => segment.words.some((word) => word.kind !== 'mark' && !conjunctions.has(word.lower)))
}
const strength: { readonly [L in Link]: number } = { start: 0, and: 1, sentence: 2, sequel: 3 }

/** Nobody asks for more at once; whoever pastes a book does not mean it. */
const mostClauses = 12

/** Groups segments around those that ask for a tool: whatever asks for none belongs to the one before it, or to the first. */
export function clausesOf(text: string, words: readonly Word[], index: ToolIndex): readonly Clause[] {
  const clauses: { words: Word[]; link: Link; choice: Choice; isOpen: boolean }[] = []
  const request = { text, whole: words }
  let before: Word[] = []
  let saysWhat = false
  for (const segment of segmentsOf(words)) {
    if (clauses.length === mostClauses) break
    if (isRefused(segment.words) || (!segment.isQuestion && isStatement(segment.words))) {
      if (clauses.length === 0) before.push(...segment.words)
      continue
    }
    const last = clauses.at(-1)
    const inContent = saysWhat || (last?.isOpen === true && segment.link === 'and')
    const head = contentStart(segment.words)
    const announced = saysWhat || head < 0 ? undefined : choose(request, segment.words.slice(0, head), index)
    const choice = announced ?? (saysWhat ? undefined : choose(request, segment.words, index))
    if (choice && (!inContent || (choice.tool.isAgent && choice.tool !== last?.choice.tool))) {
      clauses.push({ words: [...before, ...segment.words], link: segment.link, choice, isOpen: isDelegation(segment.words, choice) })
      before = []
    } else if (last) last.words.push(...segment.words)
    else before.push(...segment.words)
    if (head >= 0 && (announced || (!choice && clauses.length > 0))) saysWhat = true
  }
  return clauses
}

interface Request {
  readonly text: string
  readonly whole: readonly Word[]
}

/** Scores that differ less say nothing; then the tool is meant whose fields the words fill. */
const nearTie = 0.35

function choose({ text, whole }: Request, words: readonly Word[], index: ToolIndex): Choice | undefined {
  const [best, ...others] = rankTools(words, index, whole)
  if (!best) return undefined
  const rivals = others.filter(({ score }) => best.score - score <= nearTie)
  if (rivals.length === 0) return best
  const rated = [best, ...rivals].map((choice) => ({ choice, ...fillFromClause(text, words, choice) }))
  rated.sort((a, b) => a.missing.length - b.missing.length || b.own - a.own)
  return rated[0]?.choice
}

/** Where a text begins that is only to be passed on: after a colon, after "saying". */
function contentStart(words: readonly Word[]): number {
  return words.findIndex((word) => word.text === ':' || word.lower === 'saying')
}

/** "Ask the researcher to …": what follows is the researcher's, whatever it mentions. */
function isDelegation(words: readonly Word[], { tool, spent }: Choice): boolean {
  return tool.isAgent && words.some((word) => delegating.has(word.lower)) && spent.size > 0
}
const delegating = new Set(['ask', 'tell', 'let', 'have'])

const refusal = /^(?:please )?(?:do not|don't|don’t|never|no need to)\b/

function isRefused(words: readonly Word[]): boolean {
  return refusal.test(opening(words))
}

const statement =
  /^(?:thanks?(?: you)? )?(?:i|we|you|he|she|it|they|this|that|my|our|your|the|these|those|nice|what a)\b.*\b(?:am|is|are|was|were|love|loves|loved|like|likes|hate|hates|enjoy|enjoyed|feel|seems?|looks?)\b/
const wish = /\b(?:want|need|would|'d|’d|like to|must|should|what|which|who|when|where|how|whether|if|please|can|could)\b|['’]d like/

/** "I love trains" asks for nothing. */
function isStatement(words: readonly Word[]): boolean {
  const said = opening(words)
  return statement.test(said) && !wish.test(said)
}

function opening(words: readonly Word[]): string {
  return words
    .filter((word) => word.kind !== 'mark' && !conjunctions.has(word.lower))
    .slice(0, 12)
    .map(({ lower }) => lower)
    .join(' ')
}
