import type { ToolSpec } from '../../contracts/index.ts'
import { type Source, sourceOf } from './candidates.ts'
import { chosenWithoutWords, lookupTool, type ToolIndex } from './choose-tools.ts'
import { type Clause, clauseSource, clausesOf, fillFromClause, taskText, taskWords, textBetween } from './clauses.ts'
import { callOff, type Exchange, type Turn } from './conversation.ts'
import { askedTools, withoutToolQuestions } from './describe-tools.ts'
import { fillArguments, type Material } from './fill-arguments.ts'
import { agentName } from './parameters.ts'
import { resultText } from './results.ts'
import type { Value } from './values.ts'
import { prepositions } from './vocabulary.ts'
import { clip, readWords, type Word } from './words.ts'

/** One use of one tool. Tasks of a later stage use the results of the earlier ones. */
export interface ToolTask {
  readonly tool: ToolSpec
  readonly stage: number
  /** The words that ask for it. */
  readonly said: string
  readonly material: Omit<Material, 'results'>
  /** The results of the turn before, where these words refer to them. */
  readonly carried: readonly string[]
}

/** What the last turn asks for, in the context of the turns before it. Reads the person's words only, never results. */
export function toolTasks(turns: readonly Turn[], index: ToolIndex): readonly ToolTask[] {
  const turn = turns.at(-1)
  if (!turn) return []
  const earlier = turns.slice(0, -1)
  const tools = index.tools.map(({ tool }) => tool)
  const words = withoutToolQuestions(readWords(turn.request), tools)
  if (words.length === 0) return []
  const context = { text: turn.request, words, earlier }
  const clauses = clausesOf(turn.request, words, index)
  const answered = answerTasks(turn, { earlier, clauses, index })
  if (answered.length > 0) return answered
  if (clauses.length > 0) return clauseTasks(clauses, context)
  const further = furtherTasks(turn, earlier.at(-1), index)
  if (further.length > 0) return further
  const lookup = lookupTool(words, index)
  return lookup ? clauseTasks([{ words, link: 'start', choice: lookup }], context) : []
}

interface Context {
  readonly text: string
  readonly words: readonly Word[]
  readonly earlier: readonly Turn[]
  readonly stage?: number
  /** What the clause before was about. */
  readonly about?: string | undefined
}

function clauseTasks(clauses: readonly Clause[], context: Context): readonly ToolTask[] {
  const tasks: ToolTask[] = []
  let stage = 0
  for (const clause of shareTasks(withoutRepeats(clauses, context.text), context.text)) {
    const previous = tasks.at(-1)
    if (previous && (clause.link === 'sequel' || refersBack(clause.words))) stage += 1
    tasks.push(taskOf(clause, { ...context, stage, about: previous?.said }))
  }
  return tasks
}

/** "Ask the researcher and the critic about tea": an agent without a task of its own shares that of the next one. */
function shareTasks(clauses: readonly Clause[], text: string): readonly Clause[] {
  return clauses.map((clause, at) => {
    const next = clauses[at + 1]
    const isShared = clause.choice.tool.isAgent && next?.link === 'and' && taskText(clause, text) === ''
    return isShared ? { ...clause, words: [...clause.words, ...taskWords(next)] } : clause
  })
}

/** A second clause for the same tool that lacks arguments only adds to the first. */
function withoutRepeats(clauses: readonly Clause[], text: string): readonly Clause[] {
  const kept: Clause[] = []
  for (const clause of clauses) {
    const at = kept.findLastIndex((each) => each.choice.tool === clause.choice.tool)
    const known = kept[at]
    const mayAdd = known && clause.link !== 'sequel' && !clause.choice.tool.isAgent
    if (mayAdd && fillFromClause(text, clause.words, clause.choice).missing.length > 0)
      kept[at] = { ...known, words: [...known.words, ...clause.words] }
    else kept.push(clause)
  }
  return kept
}

const pronouns = new Set(['that', 'this', 'these', 'those'])
const outcomes = new Set(['them', 'result', 'results', 'finding', 'findings', 'outcome', 'output', 'answer'])
/** "Is it raining": this "it" refers to nothing. */
const auxiliaries = new Set(['is', 'was', 'will', 'does', 'did', 'can', 'if', 'whether', 'when'])

/** "it", "the results", or a "that" without a noun: "that train" refers to nothing before it. */
function refersBack(words: readonly Word[]): boolean {
  return words.some(({ lower }, at) => {
    const next = words[at + 1]
    if (pronouns.has(lower)) return next === undefined || next.kind !== 'word' || prepositions.has(next.lower)
    return outcomes.has(lower) || (lower === 'it' && !auxiliaries.has(words[at - 1]?.lower ?? ''))
  })
}

const maxEarlier = 6

function taskOf(clause: Clause, { text, words, earlier, stage = 0, about }: Context): ToolTask {
  const used = new Set(clause.words)
  const others = words.filter((word) => !used.has(word))
  const latest = earlier.slice(-maxEarlier).toReversed()
  return {
    tool: clause.choice.tool.tool,
    stage,
    said: clip(textBetween(text, clause.words), 80),
    carried: stage === 0 && refersBack(clause.words) ? (latest[0]?.exchanges ?? []).filter(({ ok }) => ok).map(resultText) : [],
    material: {
      clause: clauseSource(text, clause.words, clause.choice),
      task: taskText(clause, text) || lastTask(latest[0]) || text.trim(),
      around: [clauseSource(text, others, clause.choice), ...latest.map(({ request }) => requestSource(request))],
      earlier: latest.flatMap(({ exchanges }) => exchanges.toReversed().map(({ input }) => input)),
      ...(about !== undefined && { about }),
    },
  }
}

const requestSource = (request: string): Source => sourceOf(request, readWords(request.slice(0, 4000)), new Set())

/** "And the critic?": the task that the agent before was given. */
function lastTask(turn: Turn | undefined): string | undefined {
  const last = turn?.exchanges.findLast(({ tool }) => agentName(tool) !== undefined)
  const task = Object.entries(last?.input ?? {}).find(([name, value]) => name !== 'reason' && typeof value === 'string')?.[1]
  return typeof task === 'string' ? task : undefined
}

interface Reply {
  readonly earlier: readonly Turn[]
  readonly clauses: readonly Clause[]
  readonly index: ToolIndex
}

/** The reply to a question is read together with the request that the question was about. */
function answerTasks(turn: Turn, { earlier, clauses, index }: Reply): readonly ToolTask[] {
  const asked = askedTools(earlier.at(-1)?.answer ?? '')
  if (asked.length === 0 || callOff.test(turn.request)) return []
  if (clauses.some(({ choice }) => !asked.includes(choice.tool.tool.name))) return []
  const first = earlier.findLastIndex((_, at) => at === 0 || askedTools(earlier[at - 1]?.answer ?? '').length === 0)
  const text = [...earlier.slice(first).map(({ request }) => request), turn.request].join('\n')
  const words = readWords(text)
  const boundary = text.length - turn.request.length
  const [before, reply] = [words.filter(({ start }) => start < boundary), words.filter(({ start }) => start >= boundary)]
  const known = clausesOf(text, before, index)
  return asked.flatMap((name) => {
    const tool = index.tools.find((each) => each.tool.name === name)
    if (!tool) return []
    const { words: asking, choice } = known.find((each) => each.choice.tool === tool) ?? { words: [], choice: chosenWithoutWords(tool) }
    const clause: Clause = { words: [...asking, ...reply], link: 'start', choice }
    const task = taskOf(clause, { text, words, earlier: earlier.slice(0, first) })
    const answered = { ...task, material: { ...task.material, answeredFrom: asking.length } }
    return isAnswer(answered, reply.length) ? [answered] : []
  })
}

/** A reply that fills nothing is an answer only if it is very short; then the question is asked again. */
function isAnswer({ tool, material }: ToolTask, length: number): boolean {
  const { words, text } = material.clause
  if (length > 0 && length <= 3 && words.at(-1)?.text !== '?') return true
  const kept = words.slice(0, material.answeredFrom)
  const before = fillArguments(tool, { ...material, clause: sourceOf(text, kept, new Set()), results: [] })
  const { missing, own } = fillArguments(tool, { ...material, results: [] })
  return missing.length < before.missing.length || own > before.own
}

const furtherOpening = /^\s*(?:and|or|what about|how about|also|now|same|then|but)\b[\s,]*/i
const closing = /^\s*(?:thanks?|thank you|ok|okay|great|nice|cool|good|perfect|bye|hello|hi|hey|yes|no)\b/i
const repeat = /^\s*(?:please )?(?:(?:try|do|run) (?:it |that )?again|again|retry|once more)\W*$/i
const maxFurtherWords = 12

/** "And in Bergen?" repeats the last calls with another value, "try again" with the same ones. */
function furtherTasks({ request }: Turn, last: Turn | undefined, index: ToolIndex): readonly ToolTask[] {
  if (!last || closing.test(request) || callOff.test(request)) return []
  const repeated = (exchange: Exchange, words: readonly Word[]): readonly ToolTask[] => {
    const tool = index.tools.find((each) => each.tool.name === exchange.tool)
    if (!tool) return []
    const task = taskOf({ words, link: 'start', choice: chosenWithoutWords(tool) }, { text: request, words, earlier: [] })
    return [{ ...task, said: clip(request, 80), material: { ...task.material, base: exchange.input } }]
  }
  if (repeat.test(request)) {
    const failed = last.exchanges.filter(({ ok }) => !ok)
    return (failed.length > 0 ? failed : last.exchanges).flatMap((exchange) => repeated(exchange, []))
  }
  const start = furtherOpening.exec(request)?.[0].length ?? 0
  const words = readWords(request).filter((word) => word.start >= start)
  if (words.length > maxFurtherWords || (start === 0 && !isFragment(words, request))) return []
  const options = last.exchanges
    .flatMap((exchange) => repeated(exchange, words))
    .map((task) => ({ task, ...fillArguments(task.tool, { ...task.material, results: [] }) }))
    .filter(({ own }) => own > 0)
  const best = Math.max(0, ...options.map((option) => option.best))
  const tasks = options.filter((option) => option.best === best).map(({ task }) => task)
  return tasks.filter((task, at) => tasks.findIndex((other) => other.tool === task.tool) === at)
}

/** "in Voss", "Bergen", "tomorrow?": only values. A word that is neither a name nor follows a preposition asks for more. */
function isFragment(words: readonly Word[], text: string): boolean {
  const { values } = sourceOf(text, words, new Set())
  const isPlain = ({ kind, cue, name, text: whole }: Value): boolean => kind !== 'phrase' || cue !== '' || name === whole
  return values.length > 0 && (values.every(isPlain) || (words.length === 2 && words[1]?.text === '?'))
}
