import type { Message, ModelPart, ModelRequest } from '../../src/contracts/index.ts'
import { ScriptedModel, type ScriptedModelOptions, type ScriptedStepSource } from '../../src/testing/index.ts'

/** A scripted model whose window is known. */
export const windowed = (contextTokens: number, steps: readonly ScriptedStepSource[], options: ScriptedModelOptions = {}) =>
  Object.assign(new ScriptedModel(steps, options), { contextTokens })

/** Everything that a message says to a model. */
export function textOf(message: Message): string {
  switch (message.role) {
    case 'user':
      return message.parts.map((part) => (part.type === 'text' ? part.text : `(${part.type})`)).join('\n')
    case 'assistant':
      return message.parts.map((part) => (part.type === 'call' ? `${part.name} ${part.input}` : part.text)).join('\n')
    case 'tool':
      return message.results.map(({ content }) => content).join('\n')
    default:
      return message satisfies never
  }
}

/** About how many tokens a request takes, at four characters for each. */
export const tokensOf = ({ system, messages, tools }: ModelRequest): number =>
  Math.ceil((system.length + JSON.stringify(tools).length + messages.reduce((sum, each) => sum + textOf(each).length, 0)) / 4)

/** Whether a request asks for a summary of what was said, not for the next step. */
export function asksForSummary({ messages, toolChoice }: ModelRequest): boolean {
  const last = messages.at(-1)
  return toolChoice === 'none' && last?.role === 'user' && textOf(last).startsWith('The conversation is too long')
}

export const handlesIn = (text: string): readonly string[] =>
  [...text.matchAll(/read_output \{"handle":"([^"]+)"/g)].map(([, id]) => id ?? '')

export const said = (text: string): readonly ModelPart[] => [
  { type: 'text', text },
  { type: 'finish', reason: 'stop' },
]
export const called = (name: string, input: object, id: string): readonly ModelPart[] => [
  { type: 'call', id, name, input: JSON.stringify(input) },
  { type: 'finish', reason: 'tool-calls' },
]
