import { stem } from '../../util/stem.ts'
import type { ToolIndex, ToolWords } from './tool-index.ts'
import { conceptsOf, isChange, isCommonAction, isStopWord, prepositions, references } from './vocabulary.ts'
import type { Word } from './words.ts'

export interface Choice {
  readonly tool: ToolWords
  readonly score: number
  /** The words that spoke for it by its name. */
  readonly spent: ReadonlySet<Word>
}

/** What a match of meaning is worth beside one of the word itself. */
const synonymShare = 0.85
/** All of a name was said. */
const wholeName = 1.5
/** What a question implies counts less than what it says. */
const impliedShare = 0.75
/** Only the verb of a name was said, but as an order. */
const bareOrder = 0.8
/** Request and name begin with the same verb. */
const sameStart = 0.2
/** The name has a verb of change, but the request has none. */
const unsaidChange = 0.4
/** The name was written as it stands. */
const spelledOut = 10
/** Below this a request is not meant for any tool: one rare word of a name is enough, a word of a description is not. */
const threshold = 1.75

/**
 * The tools that these words may ask for, the likeliest first; equals in the order in which they are offered. The words
 * may be a part of a `whole` request: whether that asks for a change is told by any of its parts.
 */
export function rankTools(words: readonly Word[], index: ToolIndex, whole = words): readonly Choice[] {
  const asksForChange = whole.some((word) => isChange(word.stem))
  return index.tools
    .map((tool) => rate(words, tool, index))
    .map((choice) => (asksForChange || !choice.tool.nameStems.some(isChange) ? choice : { ...choice, score: choice.score - unsaidChange }))
    .filter(({ score }) => score >= threshold)
    .toSorted((a, b) => b.score - a.score)
}

function rate(words: readonly Word[], tool: ToolWords, index: ToolIndex): Choice {
  const spent = new Set<Word>()
  const said = new Set<string>()
  const gains = new Map<string, number>()
  let score = 0
  for (const word of words) {
    if (word.lower === tool.tool.name.toLowerCase()) {
      score = spelledOut
      spent.add(word)
      continue
    }
    for (const [key, implied] of keysOf(word)) {
      const match = matchOf(key, tool, index)
      if (!match) continue
      gains.set(match.key, Math.max(gains.get(match.key) ?? 0, match.worth))
      if (!tool.nameStems.includes(match.key)) continue
      said.add(match.key)
      if (!implied) spent.add(word)
    }
  }
  for (const word of titleIn(words, tool)) {
    score = spelledOut
    spent.add(word)
  }
  for (const verb of impliedActions(words)) {
    const match = matchOf(verb, tool, index)
    if (match && tool.nameStems.includes(match.key)) gains.set(match.key, Math.max(gains.get(match.key) ?? 0, match.worth * impliedShare))
  }
  for (const gain of gains.values()) score += gain
  if (startsLike(words, tool)) score += sameStart
  const isWhole = said.size > 0 && said.size === tool.nameStems.length
  if (isWhole && (!tool.isVerbOnly || startsLike(words, tool))) score += wholeName
  else if (isBareOrder(words, spent)) score += bareOrder
  return { tool, score, spent }
}

/** A name that is made of words which tell nothing by themselves, as `look_up`, is meant where it is said as a whole. */
function titleIn(words: readonly Word[], { nameStems, title }: ToolWords): readonly Word[] {
  if (nameStems.some((each) => !isStopWord(each))) return []
  const wanted = title.toLowerCase().split(' ')
  if (wanted.length < 2) return []
  const at = words.findIndex((_, start) => wanted.every((each, index) => words[start + index]?.lower === each))
  return at === -1 ? [] : words.slice(at, at + wanted.length)
}

/** "What is in …", "which … do I have": a question wants something read or listed, not changed. */
function impliedActions(words: readonly Word[]): readonly string[] {
  if (!questionWords.has(words.find(({ kind }) => kind === 'word')?.lower ?? '')) return []
  const isAboutFile = words.some(({ kind, lower }) => kind === 'path' && /\.\w+$/.test(lower))
  return isAboutFile ? [stem('read')] : [stem('list')]
}
const questionWords = new Set("what what's which when how do does are is show".split(' '))

/** "Search for …", "send it …": the verb of a name comes first, and no noun says that something else is meant. */
function isBareOrder(words: readonly Word[], spent: ReadonlySet<Word>): boolean {
  const at = words.findIndex((word) => word.kind === 'word' && !isStopWord(word.stem))
  const verb = words[at]
  const next = words[at + 1]
  if (!verb || !spent.has(verb) || !isCommonAction(verb.stem)) return false
  return next === undefined || next.kind !== 'word' || prepositions.has(next.lower) || references.has(next.lower)
}

/** "Order …" means `order_product` rather than `track_order`. */
function startsLike(words: readonly Word[], { nameStems }: ToolWords): boolean {
  const at = words.findIndex((word) => word.kind === 'word' && !isStopWord(word.stem))
  const first = words[at]
  if (!first || first.stem !== nameStems[0] || !isCommonAction(first.stem)) return false
  return words.slice(0, at).every((word) => openers.has(word.lower))
}

const openers = new Set('please can could would will you i we want need to let us now and then also just'.split(' '))

/** Stems that a word stands for. An address or a path is itself and also says which kind of thing it is. */
function keysOf(word: Word): readonly (readonly [stem: string, implied: boolean])[] {
  switch (word.kind) {
    case 'path':
      return [[stem('file'), true]]
    case 'email':
      return [[stem('mail'), true]]
    case 'url':
      return [
        [stem('url'), true],
        [stem('page'), true],
      ]
    case 'word':
      return isStopWord(word.stem) ? [] : [[word.stem, false], ...partsOf(word)]
    case 'mark':
      return word.text === '+' ? [['add', false]] : []
    default:
      return []
  }
}

function partsOf(word: Word): readonly (readonly [string, boolean])[] {
  if (!/[-_]/.test(word.lower)) return []
  return word.lower.split(/[-_]/).flatMap((part) => (isStopWord(stem(part)) ? [] : [[stem(part), false] as const]))
}

function matchOf(key: string, tool: ToolWords, index: ToolIndex): { readonly key: string; readonly worth: number } | undefined {
  const exact = tool.weights.get(key)
  let best = exact === undefined ? undefined : { key, worth: exact * index.rarity(key) }
  for (const concept of conceptsOf(key)) {
    for (const [known, weight] of tool.weights) {
      if (!conceptsOf(known).includes(concept)) continue
      const worth = weight * synonymShare * index.conceptRarity(concept)
      if (!best || worth > best.worth) best = { key: known, worth }
    }
  }
  return best
}
