import { stem } from '../../util/stem.ts'
import type { Choice } from './choose-tools.ts'
import { isFreeText, parametersOf, reasonField } from './parameters.ts'
import { merged } from './schema-view.ts'
import type { ToolIndex, ToolWords } from './tool-index.ts'
import type { Word } from './words.ts'

const asking = new Set('what which who whom whose when where why how explain find research'.split(' '))
const chat =
  /^(?:how are you|how do you do|how is it going|how's it going|what's up|who are you|what are you|what can you|what do you|how can you|how do i|how does this)\b/

const general = new Set(
  'web internet online search find look up lookup research researcher ask answer question expert knowledge query google wikipedia information info fact facts'
    .split(' ')
    .map(stem),
)

/** A question that no tool claims goes to one that looks up anything: `web_search`, a researcher. */
export function lookupTool(words: readonly Word[], { tools }: ToolIndex): Choice | undefined {
  const spoken = words
    .filter((word) => word.kind !== 'mark')
    .slice(0, 8)
    .map(({ lower }) => lower)
  const isQuestion = asking.has(spoken[0] ?? '') || (words.at(-1)?.text === '?' && spoken.length > 2)
  if (!isQuestion || chat.test(spoken.join(' '))) return undefined
  const tool = tools.find(isGeneral)
  return tool && { tool, score: 0, spent: new Set() }
}

function isGeneral({ tool, title }: ToolWords): boolean {
  if (!title.split(' ').every((word) => general.has(stem(word)))) return false
  const required = parametersOf(merged(tool.inputSchema, tool.inputSchema), tool.inputSchema, reasonField(tool)).filter(
    (each) => each.required,
  )
  return required.length === 1 && required.every(isFreeText)
}
