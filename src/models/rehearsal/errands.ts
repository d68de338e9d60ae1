import type { JsonObject, ToolSpec } from '../../contracts/index.ts'
import { withoutToolQuestions } from './about-tools.ts'
import { type Source, sourceOf } from './candidates.ts'
import type { Choice } from './choose-tools.ts'
import { clauseSource, fillFromClause } from './clause-source.ts'
import { type Clause, clausesOf } from './clauses.ts'
import type { Exchange, Turn } from './conversation.ts'
import { fillArguments, type Material } from './fill-arguments.ts'
import { lookupTool } from './lookup.ts'
import { askedTools } from './questions.ts'
import { resultText } from './results.ts'
import { slice, taskText, taskWords } from './task-text.ts'
import type { ToolIndex, ToolWords } from './tool-index.ts'
import type { Value } from './values.ts'
import { prepositions } from './vocabulary.ts'
import { clip, readWords, type Word } from './words.ts'

/** Something to be done with one tool. Those of a later stage build on what the earlier ones brought. */
export interface Errand {
  readonly tool: ToolSpec
  readonly stage: number
  /** The words that ask for it. */
  readonly said: string
  readonly material: Omit<Material, 'results'>
  /** What the turn before brought, where these words refer to it. */
  readonly carried: readonly string[]
}

/** What the last turn asks for, in the light of those before it. Looks at words of the person only, never at results. */
export function errandsOf(turns: readonly Turn[], index: ToolIndex): readonly Errand[] {
  const turn = turns.at(-1)
  if (!turn) return []
  const earlier = turns.slice(0, -1)
  const tools = index.tools.map(({ tool }) => tool)
  const words = withoutToolQuestions(readWords(turn.request), tools)
  if (words.length === 0) return []
  const clauses = clausesOf(turn.request, words, index)
  const answered = answersTo(turn, { earlier, clauses, index })
  if (answered.length > 0) return answered
  if (clauses.length > 0) return fromClauses(clauses, { text: turn.request, words, earlier })
  const further = furtherErrands(turn, earlier, index)
  if (further.length > 0) return further
  const lookup = lookupTool(words, index)
  return lookup ? fromClauses([{ words, link: 'start', choice: lookup }], { text: turn.request, words, earlier }) : []
}

interface Around {
  readonly text: string
  readonly words: readonly Word[]
  readonly earlier: readonly Turn[]
}

function fromClauses(clauses: readonly Clause[], around: Around): readonly Errand[] {
  const errands: Errand[] = []
  let stage = 0
  for (const clause of withTasks(withoutRepeats(clauses, around), around.text)) {
    const previous = errands.at(-1)
    if (previous && (clause.link === 'sequel' || refersBack(clause))) stage += 1
    errands.push(errandOf(clause, { ...around, stage, about: previous?.said }))
  }
  return errands
}

/** "Ask the researcher and the critic about tea": who is given nothing to do of their own shares the task of the next. */
function withTasks(clauses: readonly Clause[], text: string): readonly Clause[] {
  return clauses.map((clause, at) => {
    const next = clauses[at + 1]
    const isShared = clause.choice.tool.isAgent && next?.link === 'and' && taskText(clause, text) === ''
    return isShared ? { ...clause, words: [...clause.words, ...taskWords(next)] } : clause
  })
}

/** "it", "the results", or a "that" that stands alone: "that train" names something itself. */
function refersBack({ words }: Pick<Clause, 'words'>): boolean {
  return words.some(({ lower }, at) => {
    const next = words[at + 1]
    if (pronouns.has(lower)) return next === undefined || next.kind !== 'word' || prepositions.has(next.lower)
    return outcomes.has(lower) || (lower === 'it' && !helpers.has(words[at - 1]?.lower ?? ''))
  })
}
const pronouns = new Set(['that', 'this', 'these', 'those'])
const outcomes = new Set(['them', 'result', 'results', 'finding', 'findings', 'outcome', 'output', 'answer'])
/** "Is it raining": this "it" stands for nothing. */
const helpers = new Set(['is', 'was', 'will', 'does', 'did', 'can', 'if', 'whether', 'when'])

function errandOf(clause: Clause, around: Around & { stage: number; about: string | undefined }): Errand {
  const { text, words, earlier, stage, about } = around
  const { tool } = clause.choice.tool
  const used = new Set(clause.words)
  const otherWords = words.filter((word) => !used.has(word))
  return {
    tool,
    stage,
    said: clip(slice(text, clause.words), 80),
    carried: stage === 0 && refersBack(clause) ? broughtBy(earlier.at(-1)) : [],
    material: {
      clause: clauseSource(text, clause.words, clause.choice),
      task: taskText(clause, text) || lastTask(earlier) || text.trim(),
      around: [clauseSource(text, otherWords, clause.choice), ...earlierSources(earlier)],
      earlier: earlierInputs(earlier),
      ...(about !== undefined && { about }),
    },
  }
}

/** A second clause for the same tool that brings nothing of its own only says more about the first. */
function withoutRepeats(clauses: readonly Clause[], around: Around): readonly Clause[] {
  const kept: Clause[] = []
  for (const clause of clauses) {
    const at = kept.findLastIndex((each) => each.choice.tool === clause.choice.tool)
    const known = kept[at]
    const { missing } = fillFromClause(around.text, clause.words, clause.choice)
    if (known && clause.link !== 'sequel' && missing.length > 0 && !clause.choice.tool.isAgent)
      kept[at] = { ...known, words: [...known.words, ...clause.words] }
    else kept.push(clause)
  }
  return kept
}

const broughtBy = (turn: Turn | undefined): readonly string[] => (turn?.exchanges ?? []).filter(({ ok }) => ok).map(resultText)

/** "And the critic?": the same as the agent before was asked. */
function lastTask(turns: readonly Turn[]): string | undefined {
  const last = turns.at(-1)?.exchanges.findLast(({ tool }) => tool.startsWith('agent__'))
  const task = Object.entries(last?.input ?? {}).find(([name, value]) => name !== 'reason' && typeof value === 'string')?.[1]
  return typeof task === 'string' ? task : undefined
}

const mostEarlier = 6

function earlierSources(turns: readonly Turn[]): readonly Source[] {
  return turns
    .slice(-mostEarlier)
    .toReversed()
    .map(({ request }) => sourceOf(request, readWords(request.slice(0, 4000)), new Set()))
}

function earlierInputs(turns: readonly Turn[]): readonly JsonObject[] {
  return turns
    .slice(-mostEarlier)
    .toReversed()
    .flatMap(({ exchanges }) => exchanges.toReversed().map(({ input }) => input))
}

/** The reply to a question is read together with the request that the question was about. */
function answersTo(
  turn: Turn,
  { earlier, clauses, index }: { earlier: readonly Turn[]; clauses: readonly Clause[]; index: ToolIndex },
): readonly Errand[] {
  const asked = askedTools(earlier.at(-1)?.answer ?? '')
  if (asked.length === 0 || isCallOff(turn.request)) return []
  if (clauses.some(({ choice }) => !asked.includes(choice.tool.tool.name))) return []
  let first = earlier.length - 1
  while (first > 0 && askedTools(earlier[first - 1]?.answer ?? '').length > 0) first -= 1
  const before = earlier.slice(first).map(({ request }) => request)
  const text = [...before, turn.request].join('\n')
  const words = readWords(text)
  const boundary = text.length - turn.request.length
  const known = clausesOf(
    text,
    words.filter(({ start }) => start < boundary),
    index,
  )
  const reply = words.filter(({ start }) => start >= boundary)
  return asked.flatMap((name) => {
    const tool = index.tools.find((each) => each.tool.name === name)
    if (!tool) return []
    const clause = known.find(({ choice }) => choice.tool === tool) ?? { words: [], link: 'start' as const, choice: plainChoice(tool) }
    const errand = errandOf(
      { ...clause, words: [...clause.words, ...reply] },
      { text, words, earlier: earlier.slice(0, first), stage: 0, about: undefined },
    )
    const answered = { ...errand, material: { ...errand.material, answeredFrom: clause.words.length } }
    return isAnswer(answered, reply.length) ? [answered] : []
  })
}

/** A reply that fills nothing is an answer only if it is too short to be anything else; then the question is put again. */
function isAnswer({ tool, material }: Errand, length: number): boolean {
  const { words, text } = material.clause
  const isShort = length > 0 && length <= 3 && words.at(-1)?.text !== '?'
  const kept = words.slice(0, material.answeredFrom)
  const before = fillArguments(tool, { ...material, clause: sourceOf(text, kept, new Set()), results: [] })
  const { missing, own } = fillArguments(tool, { ...material, results: [] })
  return isShort || missing.length < before.missing.length || own > before.own
}

const plainChoice = (tool: ToolWords): Choice => ({ tool, score: 0, spent: new Set() })

const isCallOff = (text: string): boolean => /^\s*(?:never ?mind|cancel|forget it|stop|no,? thanks?|leave it)\b/i.test(text)

const furtherOpening = /^\s*(?:and|or|what about|how about|also|now|same|then|but)\b[\s,]*/i
const closing = /^\s*(?:thanks?|thank you|ok|okay|great|nice|cool|good|perfect|bye|hello|hi|hey|yes|no)\b/i
const repeat = /^\s*(?:please )?(?:(?:try|do|run) (?:it |that )?again|again|retry|once more)\W*$/i
const mostFurtherWords = 12

/** "And in Bergen?" asks the same again with another value, "try again" with the same ones. */
function furtherErrands(turn: Turn, earlier: readonly Turn[], index: ToolIndex): readonly Errand[] {
  const last = earlier.at(-1)
  if (!last || closing.test(turn.request) || isCallOff(turn.request)) return []
  if (repeat.test(turn.request)) return again(turn, last, index)
  const start = furtherOpening.exec(turn.request)?.[0].length ?? 0
  const words = readWords(turn.request).filter((word) => word.start >= start)
  if (words.length > mostFurtherWords || (start === 0 && !isFragment(words, turn.request))) return []
  const options = last.exchanges.flatMap((exchange) => {
    const errand = changed(exchange, { index, words, text: turn.request })
    if (!errand) return []
    const { own, best } = fillArguments(errand.tool, { ...errand.material, results: [] })
    return own > 0 ? [{ errand, best }] : []
  })
  const best = Math.max(0, ...options.map((option) => option.best))
  const chosen = options.filter((option) => option.best === best).map(({ errand }) => errand)
  return chosen.filter((errand, at) => chosen.findIndex((other) => other.tool === errand.tool) === at)
}

/** What failed, or everything where nothing did. */
function again(turn: Turn, last: Turn, index: ToolIndex): readonly Errand[] {
  const failed = last.exchanges.filter(({ ok }) => !ok)
  return (failed.length > 0 ? failed : last.exchanges).flatMap(
    (exchange) => changed(exchange, { index, words: [], text: turn.request }) ?? [],
  )
}

interface Change {
  readonly index: ToolIndex
  readonly words: readonly Word[]
  readonly text: string
}

function changed({ tool: name, input }: Exchange, { index, words, text }: Change): Errand | undefined {
  const tool = index.tools.find((each) => each.tool.name === name)
  if (!tool) return undefined
  const clause: Clause = { words, link: 'start', choice: plainChoice(tool) }
  const errand = errandOf(clause, { text, words, earlier: [], stage: 0, about: undefined })
  return { ...errand, said: clip(text, 80), material: { ...errand.material, base: input } }
}

/** "in Voss", "Bergen", "tomorrow?": nothing but values. A word that is neither a name nor led by a preposition asks for more. */
function isFragment(words: readonly Word[], text: string): boolean {
  const { values } = sourceOf(text, words, new Set())
  const isPlain = ({ kind, cue, name, text: whole }: Value): boolean => kind !== 'phrase' || cue !== '' || name === whole
  return values.length > 0 && (values.every(isPlain) || (words.length === 2 && words[1]?.text === '?'))
}
