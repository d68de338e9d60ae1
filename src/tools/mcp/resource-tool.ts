import type { Tool, ToolOutput } from '../../contracts/index.ts'
import type { McpConnection } from './mcp-connection.ts'
import { failureOf } from './mcp-failure.ts'
import { commonParts, type ToolPlace } from './mcp-tools.ts'
import { type McpResource, readResources } from './prompts-and-resources.ts'
import { type ResourceContent, resourceOutput } from './tool-result.ts'

export const resourceToolName = 'read_resource'

/** Reads a resource of a server, or lists them. Listing is not part of the description: it would change with every resource. */
export function resourceTool(place: ToolPlace): Tool {
  return {
    ...commonParts(resourceToolName, place),
    description: `Read a resource of the MCP server ${place.server} by its URI. Without a URI, list the resources and the URI templates.`,
    inputSchema: {
      type: 'object',
      properties: { uri: { type: 'string', minLength: 1, maxLength: 2_000, description: 'URI of the resource.' } },
      additionalProperties: false,
    },
    effect: 'read',
    concurrency: 'shared',
    execute: async ({ uri }, { signal }): Promise<ToolOutput> => {
      try {
        if (typeof uri !== 'string') return { ok: true, content: listText(await readResources(place.connection, signal)) }
        return await readResource(place.connection, uri, signal)
      } catch (error) {
        return { ok: false, error: failureOf(error, place.server) }
      }
    },
  }
}

async function readResource(connection: McpConnection, uri: string, signal: AbortSignal): Promise<ToolOutput> {
  const { contents } = await connection.use((client) => client.request('resources/read', { uri }, { signal, timeoutMs: 'none' }), {
    signal,
    isRepeatable: true,
  })
  const found = Array.isArray(contents) ? (contents as unknown as readonly ResourceContent[]).filter(isContent) : []
  if (found.length === 0) return { ok: false, error: { class: 'failed', message: `The resource ${uri} has no content.` } }
  return resourceOutput(found)
}

const isContent = (content: unknown): content is ResourceContent => {
  const { uri, text, blob } = (content ?? {}) as { readonly [key: string]: unknown }
  return typeof uri === 'string' && (typeof text === 'string' || typeof blob === 'string')
}

function listText(resources: readonly McpResource[]): string {
  if (resources.length === 0) return 'The server has no resources.'
  return resources
    .map(({ kind, uri, name, description, mediaType }) => {
      const facts = [kind === 'template' ? 'template' : undefined, mediaType].filter((each) => each !== undefined)
      return `${uri}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}: ${name}${description === undefined ? '' : `. ${description}`}`
    })
    .join('\n')
}
