import type { ToolSpec } from '../../contracts/index.ts'
import { stem } from '../../util/stem.ts'
import { agentName, type Field, fieldsOf, type Parameter, type Role, reasonField, toolTitle } from './parameters.ts'

import { clip, nameWords, readWords, sentenceEnds, type Word } from './words.ts'

// Texts about tools: descriptions for requests that ask about a tool, questions for missing arguments, example requests.

/** A request without its questions about tools: those are answered, not executed. */
export function withoutToolQuestions(words: readonly Word[], tools: readonly ToolSpec[]): readonly Word[] {
  return sentencesOf(words).flatMap((sentence) => (askedAbout(sentence, tools).length > 0 ? [] : sentence))
}

const maxDescribed = 3

/** Descriptions of the tools that a request asks about. */
export function toolDescriptions(request: string, tools: readonly ToolSpec[]): readonly string[] {
  const asked = sentencesOf(readWords(request)).flatMap((sentence) => askedAbout(sentence, tools))
  return [...new Set(asked)].slice(0, maxDescribed).map((tool) => {
    const fields = fieldsOf(tool.inputSchema, reasonField(tool))
    const takes = fields.map((field) => `${describeField(field)}${field.required ? '' : ', if you like'}`)
    return [
      `${tool.name}: ${clip(tool.description, 400)}`,
      takes.length === 0 ? 'It takes nothing.' : `It takes: ${takes.join('; ')}.`,
      `Try: “${exampleRequest(tool)}”`,
    ].join('\n')
  })
}

function sentencesOf(words: readonly Word[]): readonly (readonly Word[])[] {
  const sentences: Word[][] = []
  let isOpen = false
  for (const word of words) {
    if (isOpen && !word.startsLine) sentences.at(-1)?.push(word)
    else sentences.push([word])
    isOpen = !sentenceEnds.has(word.text)
  }
  return sentences
}

const polite = new Set('please and so ok okay can could would you'.split(' '))
const questionWords = new Set("what what's whats which how when why explain describe tell is".split(' '))
/** Words that add nothing to the name of a tool in a question. */
const fillers = new Set(
  `${[...polite, ...questionWords].join(' ')} does do are should i me we a an the this that your my it of to for about tool tools function functions
  agent agents called named work works mean means use used using exactly actually take takes need needs there`.split(/\s+/),
)
const toolWords = 'tool tools function functions work works use used using mean means'.split(' ')

/** The tools that a sentence asks about: it has a question word and the name of a tool, and nothing to do with it. */
function askedAbout(sentence: readonly Word[], tools: readonly ToolSpec[]): readonly ToolSpec[] {
  const spoken = sentence.filter(({ kind }) => kind !== 'mark')
  if (!questionWords.has(spoken.find(({ lower }) => !polite.has(lower))?.lower ?? '')) return []
  const said = new Set(spoken.map(({ lower }) => lower))
  const rest = spoken.filter(({ lower }) => !fillers.has(lower))
  if (rest.length === 0 || rest.length > 8) return []
  const spelled = tools.filter(({ name }) => rest.every(({ lower }) => lower === name.toLowerCase()))
  const isAboutTools = toolWords.some((word) => said.has(word)) || (said.has('do') && (said.has('does') || said.has('can')))
  if (spelled.length > 0) return isAboutTools || /[^\p{L}]/u.test(spelled[0]?.name ?? '') ? spelled : []
  return isAboutTools ? tools.filter((tool) => isNamed(tool, rest)) : []
}

function isNamed(tool: ToolSpec, words: readonly Word[]): boolean {
  const stems = new Set(nameWords(agentName(tool.name) ?? tool.name).map(stem))
  return words.every((word) => stems.has(word.stem))
}

/** A question for missing arguments. `askedTools` reads it back from the history: there is no other memory. */
export function askFor(tool: string, missing: readonly Field[]): string {
  return `To use ${tool} I need: ${missing.map(describeField).join(', ')}.`
}

/** The tools that an answer has asked arguments for. */
export function askedTools(answer: string): readonly string[] {
  return [...answer.slice(-20_000).matchAll(/\bTo use (\S{1,64}) I need: /g)].map((match) => match[1] ?? '')
}

function describeField({ path, parameter, items }: Field): string {
  const name = path.filter((part) => typeof part === 'string').join('.')
  return `${name} (${items ? `a list: ${describeType(items)}` : describeType(parameter)})`
}

const maxChoices = 8

function describeType({ type, role, schema }: Parameter): string {
  if (Array.isArray(schema.enum)) {
    const choices = schema.enum.slice(0, maxChoices).map(String).join(', ')
    return `one of ${choices}${schema.enum.length > maxChoices ? ', …' : ''}`
  }
  if (type === 'string') return formats.get(schema.format) ?? (role === 'url' ? 'a web address' : 'text')
  return `${typeTexts[type] ?? 'text'}${range(schema)}`
}

const typeTexts: { readonly [type: string]: string } = {
  integer: 'an integer',
  number: 'a number',
  boolean: 'yes or no',
  array: 'a list',
  object: 'several values',
}

const formats = new Map<unknown, string>([
  ['date', 'a date such as 2026-05-01'],
  ['date-time', 'a date and time such as 2026-05-01 14:00'],
  ['email', 'an e-mail address'],
])

function range({ minimum, maximum }: Parameter['schema']): string {
  if (typeof minimum === 'number' && typeof maximum === 'number') return ` from ${minimum} to ${maximum}`
  if (typeof minimum === 'number') return ` of at least ${minimum}`
  return typeof maximum === 'number' ? ` of at most ${maximum}` : ''
}

const samples: { readonly [R in Role]: string } = {
  origin: 'from Oslo',
  destination: 'to Bergen',
  place: 'in Oslo',
  recipient: 'to anna@example.com',
  date: 'on 2026-05-01',
  time: 'at 14:00',
  path: 'README.md',
  url: 'https://example.com',
  topic: 'about "the plan"',
  title: 'called "Lunch"',
  content: 'saying "See you soon"',
  command: '`ls`',
  query: 'for "invoices"',
  prompt: 'to compare tea and coffee',
  person: 'with Anna',
  unit: 'km',
  language: 'into French',
  identifier: '"A1"',
  other: '"something"',
}

/** A request that the rules understand as one for this tool. */
export function exampleRequest(tool: ToolSpec): string {
  const fields = fieldsOf(tool.inputSchema, reasonField(tool)).filter(({ required }) => required)
  const title = toolTitle(tool.name)
  const [first = '', ...others] = fields.map(samplePhrase).filter((part) => part !== '')
  const opening = agentName(tool.name) === undefined ? title : `ask the ${title}`
  return [`${opening} ${first}`.trim(), ...others].join(others.some((part) => /^\d/.test(part)) ? ', ' : ' ')
}

function samplePhrase({ parameter, items }: Field): string {
  const { schema, type, role, name } = items ?? parameter
  const spoken = nameWords(name).join(' ')
  if (schema.const !== undefined || schema.default !== undefined) return ''
  if (Array.isArray(schema.enum)) return `${spoken} ${String(schema.enum[0])}`
  if (type === 'integer' || type === 'number') {
    const least = Math.max(2, Number(schema.minimum ?? 2))
    const number = typeof schema.maximum === 'number' ? Math.min(least, schema.maximum) : least
    return spoken.endsWith('s') ? `${number} ${spoken}` : `${spoken} ${number}`
  }
  if (type !== 'string' && type !== 'any') return ''
  return role === 'other' || role === 'identifier' || role === 'unit' ? `${spoken} ${samples[role]}` : samples[role]
}
