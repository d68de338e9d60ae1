import type { ToolSpec } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import { asSchema, enumOf, namesIn } from './read-schema.ts'
import { nameWords, readWords, type Word } from './read-words.ts'
import { askVerbs, isChangeVerb, isStopWord, means } from './vocabulary.ts'

/** A tool with the stems of its words. */
export interface KnownTool {
  readonly spec: ToolSpec
  readonly isAgent: boolean
  /** The field for the reason of a call, if it has one. */
  readonly reasonField: string | undefined
  readonly nameStems: readonly string[]
  /** Stems with what each is worth. */
  readonly weights: ReadonlyMap<string, number>
}

interface Choice {
  readonly tool: KnownTool
  readonly score: number
  /** The words that named it. */
  readonly spent: ReadonlySet<Word>
}

const weights = { name: 3, enum: 2, description: 1, parameter: 0.7 }
/** One rare word of a name is enough, one of a description is not. */
const threshold = 2
/** "ask the critic", and a name that is spelled out. */
const spelledOut = 10
/** All of the name was said. */
const wholeName = 1

const agentPrefix = 'agent__'

export function knownTool(spec: ToolSpec): KnownTool {
  const isAgent = spec.name.startsWith(agentPrefix)
  const nameStems = [...new Set(nameWords(isAgent ? spec.name.slice(agentPrefix.length) : spec.name).map(stem))]
  const last = namesIn(spec.inputSchema.required).at(-1)
  const found = new Map<string, number>()
  const weigh = (text: string, weight: number): void => {
    for (const key of nameWords(text).map(stem)) if (!isStopWord(key)) found.set(key, Math.max(weight, found.get(key) ?? 0))
  }
  for (const key of nameStems) weigh(key, weights.name)
  for (const word of readWords(spec.description.slice(0, 500))) weigh(word.text, weights.description)
  for (const [name, schema] of Object.entries(asSchema(spec.inputSchema.properties))) {
    weigh(name, weights.parameter)
    for (const value of enumOf(asSchema(schema)).slice(0, 100)) if (typeof value === 'string') weigh(value, weights.enum)
  }
  const reasonField = last === 'reason' || last === 'call_reason' ? last : undefined
  const spoken = nameStems.filter((each) => !isStopWord(each))
  return { spec, isAgent, reasonField, nameStems: spoken.length > 0 ? spoken : nameStems, weights: found }
}

/** The tool that these words ask for. Of equal ones the first. */
export function chooseTool(words: readonly Word[], tools: readonly KnownTool[]): Choice | undefined {
  let best: Choice | undefined
  for (const tool of tools) {
    const choice = rate(words, tool, tools)
    if (choice.score >= threshold && choice.score > (best?.score ?? 0)) best = choice
  }
  return best
}

function rate(words: readonly Word[], tool: KnownTool, tools: readonly KnownTool[]): Choice {
  const spelled = words.filter(({ lower }) => lower === tool.spec.name.toLowerCase())
  const spent = new Set(spelled)
  const gains = new Map<string, number>()
  for (const word of words) {
    for (const [key, weight] of tool.weights) {
      if (!stemsOf(word).some((each) => means(each, key))) continue
      // A word that many tools have says little.
      const others = tools.filter((other) => other.weights.has(key)).length
      gains.set(key, weight / Math.sqrt(others))
      if (tool.nameStems.includes(key) && word.kind === 'word') spent.add(word)
    }
  }
  const verbs = tool.isAgent ? [] : tool.nameStems.filter(isChangeVerb)
  const isSpelled = spelled.length > 0 || (tool.isAgent && isAsked(words, tool))
  // A question changes nothing, and neither does a noun alone.
  if (verbs.length > 0 && (isQuestion(words) || !verbs.some((verb) => gains.has(verb)))) return { tool, score: 0, spent }
  const bonus = isSpelled ? spelledOut : tool.nameStems.every((key) => gains.has(key)) ? wholeName : 0
  return { tool, score: [...gains.values()].reduce((sum, gain) => sum + gain, bonus), spent }
}

/** A path speaks of a file, an address of mail, and so on. */
const kindStems: { readonly [kind: string]: readonly string[] } = {
  path: [stem('file')],
  email: [stem('mail')],
  url: [stem('url'), stem('page')],
}

function stemsOf(word: Word): readonly string[] {
  if (word.kind !== 'word') return kindStems[word.kind] ?? []
  const parts = /[-_]/.test(word.lower) ? nameWords(word.lower).map(stem) : []
  return [word.stem, ...parts].filter((each) => !isStopWord(each))
}

const isQuestion = (words: readonly Word[]): boolean =>
  /^(?:please |can you |could you )?(?:what|how|which|who|when|where|why|is|are|does|explain|describe|tell me about)\b/.test(
    words
      .slice(0, 5)
      .map(({ lower }) => lower)
      .join(' '),
  )

/** "ask the critic": all words of the name follow a verb of asking. */
function isAsked(words: readonly Word[], { nameStems }: KnownTool): boolean {
  const verb = words.findIndex(({ lower }) => askVerbs.has(lower))
  return verb !== -1 && nameStems.every((key) => words.slice(verb + 1, verb + 3 + nameStems.length).some((word) => word.stem === key))
}
