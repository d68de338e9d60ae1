import type { CallResult, InputPart, Message, StoredPart } from '../../contracts/index.ts'

/** Images and files of results, for a user message after them: many providers take only text in a result. */
export function resultParts(results: readonly CallResult[]): readonly InputPart[] {
  const parts = results.flatMap(({ parts: own = [] }) => own.flatMap((part) => ('blob' in part ? inputPart(part) : [])))
  return parts.length === 0 ? parts : [{ type: 'text', text: 'The images and files of these results:' }, ...parts]
}

/** The messages, with the parts of results in user messages after them. */
export const withPartsBesideResults = (messages: readonly Message[]): readonly Message[] =>
  messages.flatMap((message): readonly Message[] => {
    const parts = message.role === 'tool' ? resultParts(message.results) : []
    return parts.length === 0 ? [message] : [message, { role: 'user', parts }]
  })

function inputPart({ mediaType, data, name }: StoredPart): readonly InputPart[] {
  if (data === undefined) return []
  if (mediaType.startsWith('image/')) return [{ type: 'image', mediaType, data }]
  return [{ type: 'file', mediaType, data, ...(name !== undefined && { name }) }]
}
