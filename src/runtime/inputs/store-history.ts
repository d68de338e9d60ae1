import type { CallResult, MaybePromise, Message, OutputPart, StoredPart, TreeId } from '../../contracts/index.ts'
import { storedPartText } from '../../steps/index.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'
import { hasBytes, storeBytes, storeInput } from './store-input.ts'

/** Moves the bytes of images and files to the blob store, like those of an input. */
export function storeHistory(parts: RuntimeParts, treeId: TreeId, history: readonly Message[]): MaybePromise<readonly Message[]> {
  if (!history.some(hasMedia)) return history
  return Promise.all(history.map((message, index) => storeMessage(parts, treeId, { message, what: `history[${index}]` })))
}

const hasMedia = (message: Message): boolean =>
  message.role === 'tool'
    ? message.results.some(({ parts }) => parts?.some(isMedia))
    : message.role === 'user' && message.parts.some(hasBytes)

const isMedia = (part: OutputPart): part is StoredPart => part.type !== 'text' && part.type !== 'link'

async function storeMessage(
  parts: RuntimeParts,
  treeId: TreeId,
  { message, what }: { readonly message: Message; readonly what: string },
): Promise<Message> {
  if (message.role === 'user') return { ...message, parts: await storeInput(parts, { treeId, what }, message.parts) }
  if (message.role !== 'tool') return message
  const store = async (part: OutputPart, place: string): Promise<OutputPart> => {
    if (!isMedia(part)) return part
    const { data = '', ...rest } = part
    const media = { type: part.type === 'image' ? 'image' : 'file', mediaType: part.mediaType, data } as const
    const stored = await storeBytes(parts, treeId, { part: media, place })
    return stored ? { ...rest, ...stored } : rest
  }
  const results = await Promise.all(
    message.results.map(async (result, at): Promise<CallResult> => {
      if (!result.parts?.some(isMedia)) return result
      const stored = await Promise.all(result.parts.map((part, index) => store(part, `${what}.results[${at}].parts[${index}]`)))
      return { ...result, content: mentioning(result.content, stored), parts: stored }
    }),
  )
  return { ...message, results }
}

/** Models that cannot read a part read a line about it. */
const mentioning = (content: string, stored: readonly OutputPart[]): string =>
  [content, ...stored.filter(isMedia).map((part) => storedPartText(part))].filter((line) => line !== '').join('\n')
