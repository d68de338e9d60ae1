// The result of a call, or the content of a resource, as the output of a tool.
import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client'
import type { Json, ToolOutput, ToolPart } from '../../contracts/index.ts'
import { plainMediaType } from '../../util/media-type.ts'
import { textOfParts } from '../../util/text-of-parts.ts'
import { cutText, wellFormed } from '../../util/well-formed.ts'
import { maxErrorCharacters, maxNameCharacters, maxParts } from './mcp-limits.ts'

/** `problems`: why the structured content does not match the output schema. */
export function resultOutput(result: CallToolResult, server: string, problems: readonly string[] = []): ToolOutput {
  const parts = partsOf(result.content ?? [])
  const text = textOf(parts)
  const others = parts.some(({ type }) => type !== 'text') ? { parts } : {}
  if (result.isError) {
    const message = text.trim() === '' ? `The MCP server "${server}" reported an error without a text.` : text
    return { ok: false, error: { class: 'failed', message }, ...others }
  }
  const value = result.structuredContent as Json | undefined
  if (problems.length > 0) {
    const message = `The result does not match the output schema of the tool: ${problems.slice(0, 3).join('; ')}`
    return { ok: false, error: { class: 'failed', message: cutText(message, maxErrorCharacters) }, partial: text, ...others }
  }
  const content = 'parts' in others ? '' : text === '' && value !== undefined ? JSON.stringify(value) : text
  return { ok: true, content, ...others, ...(value !== undefined && { value }) }
}

/** The contents of a resource. */
export function resourceOutput(contents: readonly ResourceContent[]): ToolOutput {
  const parts = partsOf(contents.map((resource) => ({ type: 'resource', resource }) as ContentBlock))
  return parts.every(({ type }) => type === 'text') ? { ok: true, content: textOf(parts) } : { ok: true, content: '', parts }
}

export type ResourceContent = Extract<ContentBlock, { type: 'resource' }>['resource']

export function partsOf(content: readonly ContentBlock[]): readonly ToolPart[] {
  const parts = content.slice(0, maxParts).map(partOf)
  const left = content.length - parts.length
  return left > 0 ? [...parts, { type: 'text', text: `[${left} more parts were dropped]` }] : parts
}

const textOf = (parts: readonly ToolPart[]): string =>
  textOfParts(
    parts.filter((part) => part.type !== 'text' || part.text !== ''),
    '\n\n',
  )

function partOf(block: ContentBlock): ToolPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: wellFormed(block.text) }
    case 'image':
    case 'audio':
      return { type: block.type, mediaType: plainMediaType(block.mimeType), data: Buffer.from(block.data, 'base64') }
    case 'resource_link': {
      const { uri, name, mimeType } = block
      return {
        type: 'link',
        uri: cutText(wellFormed(uri), 2_000),
        name: cutText(wellFormed(name), maxNameCharacters),
        ...(mimeType !== undefined && { mediaType: plainMediaType(mimeType) }),
      }
    }
    case 'resource':
      return resourcePart(block.resource)
    default:
      return { type: 'text', text: `[unknown content of type ${cutText(String((block as { type?: unknown }).type), 50)}]` }
  }
}

function resourcePart(resource: ResourceContent): ToolPart {
  const uri = cutText(wellFormed(resource.uri), 2_000)
  if ('text' in resource) return { type: 'text', text: `[${uri}]\n${wellFormed(resource.text)}` }
  const mediaType = plainMediaType(resource.mimeType ?? '')
  const [kind] = mediaType.split('/')
  return {
    type: kind === 'image' || kind === 'audio' ? kind : 'file',
    mediaType,
    data: Buffer.from(resource.blob, 'base64'),
    name: uri,
  }
}
