import type { CallResult, Effect, Message } from '../contracts/index.ts'

const mostInput = 160
const mostResult = 80

/** The calls of a history that may have changed something, a line for each: what was called, with what, and what came of it. */
export function effectsIn(messages: readonly Message[], effectOf: (tool: string) => Effect): readonly string[] {
  return messages.flatMap((message, index) => {
    if (message.role !== 'assistant') return []
    const next = messages[index + 1]
    const results = next?.role === 'tool' ? next.results : []
    return message.parts.flatMap((part) => {
      if (part.type !== 'call' || effectOf(part.name) === 'read') return []
      const result = results.find(({ id }) => id === part.id)
      return [`- ${part.name} ${cut(part.input, mostInput)}: ${outcomeOf(result)}`]
    })
  })
}

function outcomeOf(result: CallResult | undefined): string {
  if (!result) return 'no result'
  return `${result.ok ? 'ok' : 'failed'}, ${cut(result.content.split('\n', 1)[0] ?? '', mostResult)}`
}

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text)
