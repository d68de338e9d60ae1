// Prompts and resources of a server: untrusted texts, shortened. Entries without the required fields are left out.
import type { ContentBlock } from '@modelcontextprotocol/client'
import { cutText, wellFormed } from '../../util/well-formed.ts'
import type { McpConnection } from './mcp-connection.ts'
import { maxDescriptionCharacters, maxNameCharacters } from './mcp-limits.ts'
import { partsOf } from './tool-result.ts'

/** A prompt that a server offers. */
export interface McpPrompt {
  readonly name: string
  readonly description?: string
  readonly arguments: readonly { readonly name: string; readonly description?: string; readonly required: boolean }[]
}

export interface McpPromptMessage {
  readonly role: 'user' | 'assistant'
  /** Images and the like are named, not included. */
  readonly text: string
}

/** `template`: the URI contains `{placeholders}`. */
export interface McpResource {
  readonly kind: 'resource' | 'template'
  readonly uri: string
  readonly name: string
  readonly description?: string
  readonly mediaType?: string
}

type Raw = { readonly [key: string]: unknown }

export async function readResources(connection: McpConnection, signal?: AbortSignal): Promise<readonly McpResource[]> {
  const read = { signal, isRepeatable: true }
  const { entries } = await connection.use((client) => client.list('resources/list', { signal }), read)
  // Many servers have no templates, and some do not know the request.
  const templates = await connection
    .use((client) => client.list('resources/templates/list', { signal }), read)
    .catch(() => ({ entries: [] }))
  return [...entries.flatMap((raw) => resourceOf(raw, 'resource')), ...templates.entries.flatMap((raw) => resourceOf(raw, 'template'))]
}

function resourceOf(raw: unknown, kind: McpResource['kind']): readonly McpResource[] {
  const { uri, uriTemplate, name, description, mimeType } = (raw ?? {}) as Raw
  const address = kind === 'resource' ? uri : uriTemplate
  if (typeof address !== 'string' || typeof name !== 'string') return []
  return [
    {
      kind,
      uri: cutText(wellFormed(address), 2_000),
      name: short(name),
      ...(typeof description === 'string' && { description: long(description) }),
      ...(typeof mimeType === 'string' && { mediaType: short(mimeType) }),
    },
  ]
}

export async function readPrompts(connection: McpConnection, signal?: AbortSignal): Promise<readonly McpPrompt[]> {
  const { entries } = await connection.use((client) => client.list('prompts/list', { signal }), { signal, isRepeatable: true })
  return entries.flatMap((raw) => {
    const { name, description, arguments: wanted } = (raw ?? {}) as Raw
    if (typeof name !== 'string') return []
    return [{ name, ...(typeof description === 'string' && { description: long(description) }), arguments: argumentsOf(wanted) }]
  })
}

function argumentsOf(wanted: unknown): McpPrompt['arguments'] {
  if (!Array.isArray(wanted)) return []
  return wanted.flatMap((raw: Raw | null) => {
    const { name, description, required } = raw ?? {}
    if (typeof name !== 'string') return []
    return [{ name, ...(typeof description === 'string' && { description: long(description) }), required: required === true }]
  })
}

export async function readPrompt(
  connection: McpConnection,
  name: string,
  args: { readonly [name: string]: string },
): Promise<readonly McpPromptMessage[]> {
  const { messages } = await connection.use((client) => client.request('prompts/get', { name, arguments: args }), { isRepeatable: true })
  if (!Array.isArray(messages)) return []
  return (messages as readonly unknown[]).flatMap((raw): readonly McpPromptMessage[] => {
    const { role, content } = (raw ?? {}) as Raw
    const blocks = (Array.isArray(content) ? content : [content]) as readonly ContentBlock[]
    if (!blocks.every((block) => typeof block === 'object' && block !== null)) return []
    return [{ role: role === 'assistant' ? 'assistant' : 'user', text: partsOf(blocks).map(partText).join('\n\n') }]
  })
}

function partText(part: ReturnType<typeof partsOf>[number]): string {
  if (part.type === 'text') return part.text
  return part.type === 'link' ? `[${part.name ?? part.uri}](${part.uri})` : `[${part.mediaType}, ${part.data.length} bytes]`
}

const short = (text: string): string => cutText(wellFormed(text), maxNameCharacters)
const long = (text: string): string => cutText(wellFormed(text), maxDescriptionCharacters)
