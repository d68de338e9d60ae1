import type { ToolSpec } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import { exampleRequest } from './example.ts'
import { fieldsOf } from './fields.ts'
import { reasonField } from './parameters.ts'
import { describeField } from './questions.ts'
import { clip, nameWords, readWords, type Word } from './words.ts'

// Whoever asks what a tool does wants to be told, not to have it done.

/** What a request says beside its questions about tools. */
export function withoutToolQuestions(words: readonly Word[], tools: readonly ToolSpec[]): readonly Word[] {
  return sentencesOf(words).flatMap((sentence) => (askedAbout(sentence, tools).length > 0 ? [] : sentence))
}

/** What is to be told about the tools that a request asks about. */
export function toolDescriptions(request: string, tools: readonly ToolSpec[]): readonly string[] {
  const asked = sentencesOf(readWords(request)).flatMap((sentence) => askedAbout(sentence, tools))
  return [...new Set(asked)].slice(0, mostTold).map(describe)
}
const mostTold = 3

function describe(tool: ToolSpec): string {
  const fields = fieldsOf(tool.inputSchema, reasonField(tool))
  const takes = fields.map((field) => `${describeField(field)}${field.required ? '' : ', if you like'}`)
  return [
    `${tool.name}: ${clip(tool.description, 400)}`,
    takes.length === 0 ? 'It takes nothing.' : `It takes: ${takes.join('; ')}.`,
    `Try: “${exampleRequest(tool)}”`,
  ].join('\n')
}

const ends = new Set(['.', '?', '!', ';'])

function sentencesOf(words: readonly Word[]): readonly (readonly Word[])[] {
  const sentences: Word[][] = []
  let isOpen = false
  for (const word of words) {
    if (isOpen && !word.startsLine) sentences.at(-1)?.push(word)
    else sentences.push([word])
    isOpen = !ends.has(word.text)
  }
  return sentences
}

const polite = new Set('please and so ok okay can could would you'.split(' '))
const askers = new Set("what what's whats which how when why explain describe tell is".split(' '))
/** With these a question says nothing beside the name of the tool. */
const fillers = new Set(
  `${[...polite, ...askers].join(' ')} does do are should i me we a an the this that your my it of to for about tool tools function functions
  agent agents called named work works mean means use used using exactly actually take takes need needs there`.split(/\s+/),
)
const signs = new Set('tool tools function functions work works use used using mean means'.split(' '))

/** The tools that a sentence asks about: it has a word that asks, the name of a tool, and nothing to be done with it. */
function askedAbout(sentence: readonly Word[], tools: readonly ToolSpec[]): readonly ToolSpec[] {
  const spoken = sentence.filter(({ kind }) => kind !== 'mark')
  if (!askers.has(spoken.find(({ lower }) => !polite.has(lower))?.lower ?? '')) return []
  const said = new Set(spoken.map(({ lower }) => lower))
  const rest = spoken.filter(({ lower }) => !fillers.has(lower))
  if (rest.length === 0 || rest.length > 8) return []
  const spelled = tools.filter(({ name }) => rest.every(({ lower }) => lower === name.toLowerCase()))
  const isSign = [...signs].some((sign) => said.has(sign)) || (said.has('do') && (said.has('does') || said.has('can')))
  if (spelled.length > 0) return isSign || /[^\p{L}]/u.test(spelled[0]?.name ?? '') ? spelled : []
  return isSign ? tools.filter((tool) => isNamed(tool, rest)) : []
}

function isNamed({ name }: ToolSpec, words: readonly Word[]): boolean {
  const stems = new Set(nameWords(name.replace(/^agent__/, '')).map(stem))
  return words.every((word) => stems.has(word.stem))
}
