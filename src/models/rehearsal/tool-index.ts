import type { ToolSpec } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import { parametersOf, reasonField } from './parameters.ts'
import { merged } from './schema-view.ts'
import { conceptsOf, isCommonAction, isStopWord, isVagueNoun } from './vocabulary.ts'
import { nameWords } from './words.ts'

/** What one tool answers to. */
export interface ToolWords {
  readonly tool: ToolSpec
  readonly isAgent: boolean
  /** Its name in words, without what says that it is an agent: `look up trains`, `researcher`. */
  readonly title: string
  /** Stems with what a match is worth, before rarity counts. */
  readonly weights: ReadonlyMap<string, number>
  /** Stems of its name that can choose it. */
  readonly nameStems: readonly string[]
  /** The name is a verb with a noun that says nothing, as in `order_product`: only an order can mean it. */
  readonly isVerbOnly: boolean
}

export interface ToolIndex {
  readonly tools: readonly ToolWords[]
  /** Between 0 and 1: how much a word tells among these tools. What all of them share tells little. */
  rarity(stem: string): number
  /** The same for a concept. */
  conceptRarity(concept: number): number
}

const inName = 3
const inEnum = 2
const inDescription = 1
const inParameter = 0.7
const longestDescription = 500
const mostEnumValues = 100

const agentPrefix = 'agent__'

export function indexTools(tools: readonly ToolSpec[]): ToolIndex {
  const known = tools.map(wordsOf)
  const counts = countEach(known.map(({ weights }) => weights.keys()))
  const concepts = countEach(known.map(({ weights }) => new Set([...weights.keys()].flatMap(conceptsOf))))
  const rare = (count = 1): number => Math.log(1 + known.length / count) / Math.log(1 + known.length)
  return { tools: known, rarity: (each) => rare(counts.get(each)), conceptRarity: (each) => rare(concepts.get(each)) }
}

function countEach<T>(lists: readonly Iterable<T>[]): ReadonlyMap<T, number> {
  const counts = new Map<T, number>()
  for (const list of lists) for (const each of list) counts.set(each, (counts.get(each) ?? 0) + 1)
  return counts
}

function wordsOf(tool: ToolSpec): ToolWords {
  const isAgent = tool.name.startsWith(agentPrefix)
  const name = isAgent ? tool.name.slice(agentPrefix.length) : tool.name
  const nameStems = [...new Set(nameWords(name).map(stem))]
  const spoken = nameStems.filter((each) => !isStopWord(each))
  const telling = spoken.filter((each) => !isVagueNoun(each))
  const isVerbOnly = telling.length < spoken.length && telling.length > 0 && telling.every(isCommonAction)
  const weights = new Map<string, number>()
  const weigh = (words: readonly string[], weight: number): void => {
    for (const word of words) {
      const key = stem(word)
      const worth = isCommonAction(key) ? weight / 2 : weight
      if (!isStopWord(key) && worth > (weights.get(key) ?? 0)) weights.set(key, worth)
    }
  }
  weigh(nameWords(name), inName)
  weigh(nameWords(tool.description.slice(0, longestDescription)), inDescription)
  const schema = merged(tool.inputSchema, tool.inputSchema)
  for (const parameter of parametersOf(schema, tool.inputSchema, reasonField(tool))) {
    weigh(nameWords(parameter.name), inParameter)
    for (const value of enumTexts(parameter.schema.enum)) weigh(nameWords(value), inEnum)
  }
  return { tool, isAgent, title: nameWords(name).join(' '), weights, nameStems: telling.length > 0 ? telling : nameStems, isVerbOnly }
}

function enumTexts(values: unknown): readonly string[] {
  return Array.isArray(values) ? values.slice(0, mostEnumValues).filter((value): value is string => typeof value === 'string') : []
}
