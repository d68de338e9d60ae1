import type { FilePart, ImagePart, InputPart, JsonObject } from '../../contracts/index.ts'

/** A user message for a framework. A single text stays a string, which every integration accepts. */
export function userContent(parts: readonly InputPart[], file: (part: FilePart) => JsonObject): string | readonly JsonObject[] {
  const [only, ...rest] = parts
  if (only?.type === 'text' && rest.length === 0) return only.text
  return parts.map((part): JsonObject => {
    switch (part.type) {
      case 'text':
        return { type: 'text', text: part.text }
      case 'image':
        return { type: 'image_url', image_url: { url: isUrl(part) ? part.data : `data:${part.mediaType};base64,${part.data}` } }
      case 'file':
        return file(part)
      default:
        return part satisfies never
    }
  })
}

export const isUrl = ({ data }: ImagePart | FilePart): boolean => /^(?:https?|data):/i.test(data)
