import type { ToolSpec } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import { agentName, isFreeText, parametersOf, reasonField, toolTitle } from './parameters.ts'
import { conceptsOf, isChange, isCommonAction, isStopWord, isVagueNoun, prepositions, references } from './vocabulary.ts'
import { nameWords, type Word } from './words.ts'

/** The words that choose one tool. */
interface ToolWords {
  readonly tool: ToolSpec
  readonly isAgent: boolean
  /** Its name in words: `look up trains`, `researcher`. */
  readonly title: string
  /** Stems with the score of a match, before rarity. */
  readonly weights: ReadonlyMap<string, number>
  /** Stems of its name that can choose it. */
  readonly nameStems: readonly string[]
  /** The name is a verb with a vague noun, as in `order_product`: only an order can mean it. */
  readonly isVerbOnly: boolean
}

export interface ToolIndex {
  readonly tools: readonly ToolWords[]
  /** Between 0 and 1. A word that all of these tools share has little weight. */
  rarity(stem: string): number
  conceptRarity(concept: number): number
}

const weights = { name: 3, enum: 2, description: 1, parameter: 0.7 }
const maxDescription = 500
const maxEnumValues = 100

export function indexTools(specs: readonly ToolSpec[]): ToolIndex {
  const tools = specs.map(wordsOf)
  const stems = countEach(tools.map((tool) => tool.weights.keys()))
  const concepts = countEach(tools.map((tool) => new Set([...tool.weights.keys()].flatMap(conceptsOf))))
  const rare = (count = 1): number => Math.log(1 + tools.length / count) / Math.log(1 + tools.length)
  return { tools, rarity: (each) => rare(stems.get(each)), conceptRarity: (each) => rare(concepts.get(each)) }
}

function countEach<T>(lists: readonly Iterable<T>[]): ReadonlyMap<T, number> {
  const counts = new Map<T, number>()
  for (const list of lists) for (const each of list) counts.set(each, (counts.get(each) ?? 0) + 1)
  return counts
}

function wordsOf(tool: ToolSpec): ToolWords {
  const title = toolTitle(tool.name)
  const nameStems = [...new Set(nameWords(title).map(stem))]
  const spoken = nameStems.filter((each) => !isStopWord(each))
  const telling = spoken.filter((each) => !isVagueNoun(each))
  const found = new Map<string, number>()
  const weigh = (text: string, weight: number): void => {
    for (const key of nameWords(text).map(stem)) {
      const score = isCommonAction(key) ? weight / 2 : weight
      if (!isStopWord(key) && score > (found.get(key) ?? 0)) found.set(key, score)
    }
  }
  weigh(title, weights.name)
  weigh(tool.description.slice(0, maxDescription), weights.description)
  for (const { name, schema } of parametersOf(tool.inputSchema, reasonField(tool))) {
    weigh(name, weights.parameter)
    const values = Array.isArray(schema.enum) ? schema.enum.slice(0, maxEnumValues) : []
    for (const value of values) if (typeof value === 'string') weigh(value, weights.enum)
  }
  return {
    tool,
    isAgent: agentName(tool.name) !== undefined,
    title,
    weights: found,
    nameStems: telling.length > 0 ? telling : nameStems,
    isVerbOnly: telling.length < spoken.length && telling.length > 0 && telling.every(isCommonAction),
  }
}

export interface Choice {
  readonly tool: ToolWords
  readonly score: number
  /** The words that matched its name. */
  readonly spent: ReadonlySet<Word>
}

export const chosenWithoutWords = (tool: ToolWords): Choice => ({ tool, score: 0, spent: new Set() })

const scores = {
  /** A synonym, as a share of the word itself. */
  synonym: 0.85,
  /** The action that a question implies, as a share of one that is said. */
  implied: 0.75,
  /** All of the name was said. */
  wholeName: 1.5,
  /** Only the verb of the name was said, but as an order. */
  bareOrder: 0.8,
  /** Request and name begin with the same verb. */
  sameStart: 0.2,
  /** The name has a verb of change, but the request has none. */
  unsaidChange: -0.4,
  /** The name was written out. */
  spelledOut: 10,
  /** Below this no tool is meant: one rare word of a name is enough, a word of a description is not. */
  threshold: 1.75,
}

/**
 * The tools that these words may ask for, best first; equal scores in the order in which the tools are offered. The words
 * may be a part of a `whole` request: any of its parts can ask for a change.
 */
export function rankTools(words: readonly Word[], index: ToolIndex, whole = words): readonly Choice[] {
  const asksForChange = whole.some((word) => isChange(word.stem))
  return index.tools
    .map((tool) => rate(words, tool, index))
    .map((choice) =>
      asksForChange || !choice.tool.nameStems.some(isChange) ? choice : { ...choice, score: choice.score + scores.unsaidChange },
    )
    .filter(({ score }) => score >= scores.threshold)
    .toSorted((a, b) => b.score - a.score)
}

function rate(words: readonly Word[], tool: ToolWords, index: ToolIndex): Choice {
  const title = titleIn(words, tool)
  const spelled = [...words.filter((word) => word.lower === tool.tool.name.toLowerCase()), ...title]
  const spent = new Set(spelled)
  const said = new Set<string>()
  const gains = new Map<string, number>()
  const gain = (key: string, share: number): string | undefined => {
    const match = matchOf(key, tool, index)
    const isInName = match !== undefined && tool.nameStems.includes(match.key)
    if (match && (share === 1 || isInName)) gains.set(match.key, Math.max(gains.get(match.key) ?? 0, match.score * share))
    return isInName ? match.key : undefined
  }
  for (const word of words) {
    if (spelled.includes(word) && !title.includes(word)) continue
    for (const { key, isImplied } of keysOf(word)) {
      const name = gain(key, 1)
      if (name !== undefined) said.add(name)
      if (name !== undefined && !isImplied) spent.add(word)
    }
  }
  for (const verb of impliedActions(words)) gain(verb, scores.implied)
  let score = spelled.length > 0 ? scores.spelledOut : 0
  for (const each of gains.values()) score += each
  const isSameStart = startsLike(words, tool)
  if (isSameStart) score += scores.sameStart
  const isWhole = said.size > 0 && said.size === tool.nameStems.length
  if (isWhole && (!tool.isVerbOnly || isSameStart)) score += scores.wholeName
  else if (isBareOrder(words, spent)) score += scores.bareOrder
  return { tool, score, spent }
}

/** A name of stop words only, as `look_up`, matches where all of it is said. */
function titleIn(words: readonly Word[], { nameStems, title }: ToolWords): readonly Word[] {
  const wanted = title.split(' ')
  if (wanted.length < 2 || nameStems.some((each) => !isStopWord(each))) return []
  const at = words.findIndex((_, start) => wanted.every((each, index) => words[start + index]?.lower === each))
  return at === -1 ? [] : words.slice(at, at + wanted.length)
}

/** "What is in …", "which … do I have": a question asks to read or list something, not to change it. */
function impliedActions(words: readonly Word[]): readonly string[] {
  if (!questionWords.has(words.find(({ kind }) => kind === 'word')?.lower ?? '')) return []
  const isAboutFile = words.some(({ kind, lower }) => kind === 'path' && /\.\w+$/.test(lower))
  return [stem(isAboutFile ? 'read' : 'list')]
}
const questionWords = new Set("what what's which when how do does are is show".split(' '))

const firstMeaningful = (words: readonly Word[]): number => words.findIndex((word) => word.kind === 'word' && !isStopWord(word.stem))

/** "Search for …", "send it …": the verb of a name comes first, and no noun names anything else. */
function isBareOrder(words: readonly Word[], spent: ReadonlySet<Word>): boolean {
  const at = firstMeaningful(words)
  const [verb, next] = [words[at], words[at + 1]]
  if (!verb || !spent.has(verb) || !isCommonAction(verb.stem)) return false
  return next === undefined || next.kind !== 'word' || prepositions.has(next.lower) || references.has(next.lower)
}

/** "Order …" means `order_product` rather than `track_order`. */
function startsLike(words: readonly Word[], { nameStems }: ToolWords): boolean {
  const at = firstMeaningful(words)
  const first = words[at]
  if (!first || first.stem !== nameStems[0] || !isCommonAction(first.stem)) return false
  return words.slice(0, at).every((word) => openers.has(word.lower))
}
const openers = new Set('please can could would will you i we want need to let us now and then also just'.split(' '))

interface Key {
  readonly key: string
  /** The word has this kind, but does not say so. */
  readonly isImplied: boolean
}

const impliedKeys: { readonly [kind: string]: readonly Key[] } = Object.fromEntries(
  Object.entries({ path: ['file'], email: ['mail'], url: ['url', 'page'] }).map(([kind, nouns]) => [
    kind,
    nouns.map((noun) => ({ key: stem(noun), isImplied: true })),
  ]),
)

/** The stems that a word matches with. */
function keysOf(word: Word): readonly Key[] {
  if (word.text === '+') return [{ key: 'add', isImplied: false }]
  if (word.kind !== 'word') return impliedKeys[word.kind] ?? []
  if (isStopWord(word.stem)) return []
  const parts = /[-_]/.test(word.lower) ? word.lower.split(/[-_]/).map(stem) : []
  return [word.stem, ...parts.filter((part) => !isStopWord(part))].map((key) => ({ key, isImplied: false }))
}

function matchOf(key: string, tool: ToolWords, index: ToolIndex): { readonly key: string; readonly score: number } | undefined {
  const exact = tool.weights.get(key)
  let best = exact === undefined ? undefined : { key, score: exact * index.rarity(key) }
  for (const concept of conceptsOf(key)) {
    for (const [known, weight] of tool.weights) {
      if (!conceptsOf(known).includes(concept)) continue
      const score = weight * scores.synonym * index.conceptRarity(concept)
      if (!best || score > best.score) best = { key: known, score }
    }
  }
  return best
}

const lookupQuestions = new Set('what which who whom whose when where why how explain find research'.split(' '))
const chat =
  /^(?:how are you|how do you do|how is it going|how's it going|what's up|who are you|what are you|what can you|what do you|how can you|how do i|how does this)\b/
const lookupStems = new Set(
  'web internet online search find look up lookup research researcher ask answer question expert knowledge query google wikipedia information info fact facts'
    .split(' ')
    .map(stem),
)

/** A question that matches no tool goes to one that looks up anything: `web_search`, a researcher. */
export function lookupTool(words: readonly Word[], { tools }: ToolIndex): Choice | undefined {
  const spoken = words.filter((word) => word.kind !== 'mark').map(({ lower }) => lower)
  const isQuestion = lookupQuestions.has(spoken[0] ?? '') || (words.at(-1)?.text === '?' && spoken.length > 2)
  if (!isQuestion || chat.test(spoken.slice(0, 8).join(' '))) return undefined
  const tool = tools.find(looksUpAnything)
  return tool && chosenWithoutWords(tool)
}

function looksUpAnything({ tool, title }: ToolWords): boolean {
  if (!title.split(' ').every((word) => lookupStems.has(stem(word)))) return false
  const required = parametersOf(tool.inputSchema, reasonField(tool)).filter((each) => each.required)
  return required.length === 1 && required.every(isFreeText)
}
