import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import type { SessionEntry } from '../../contracts/index.ts'
import type { Peer } from '../http/index.ts'
import { transcript } from './transcript.ts'

// The caller's own sessions as resources, also for callers that may see those of others.

const pageSize = 50

export const resourceTemplates: ListResourceTemplatesResult = {
  resourceTemplates: [
    { name: 'session', title: 'Transcript of a session', uriTemplate: 'session://{id}', mimeType: 'text/markdown' },
    { name: 'session-events', title: 'Events of a session', uriTemplate: 'session://{id}/events', mimeType: 'application/json' },
  ],
}

/** Newest first. The cursor is the time of the last session of the page before. */
export async function listResources({ sessions, caller }: Peer, cursor: string | undefined): Promise<ListResourcesResult> {
  const before = cursor === undefined ? undefined : Number(cursor)
  if (before !== undefined && !(Number.isSafeInteger(before) && before > 0))
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The cursor is wrong. Use nextCursor of the page before.')
  const page = await sessions.list({ owner: caller.principal.id, limit: pageSize + 1, ...(before !== undefined && { before }) })
  const shown = page.slice(0, pageSize)
  const last = shown.at(-1)
  return { resources: shown.map(resourceOf), ...(page.length > pageSize && last && { nextCursor: String(last.createdAt) }) }
}

const resourceOf = ({ sessionId, title, agent, status, updatedAt }: SessionEntry) => ({
  uri: `session://${sessionId}`,
  name: sessionId as string,
  title: title || sessionId,
  description: `${agent}, ${status}`,
  mimeType: 'text/markdown',
  annotations: { lastModified: new Date(updatedAt).toISOString() },
})

export async function readResource({ sessions, caller }: Peer, uri: string): Promise<ReadResourceResult> {
  const [, id, part] = /^session:\/\/([\w-]{1,200})(\/events)?$/.exec(uri) ?? []
  const entry = id === undefined ? undefined : await sessions.get(id)
  if (!entry || entry.owner !== caller.principal.id) throw new ResourceNotFoundError(uri)
  const exported = await sessions.export(entry.sessionId)
  if (part !== undefined) return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(exported.events) }] }
  return { contents: [{ uri, mimeType: 'text/markdown', text: transcript(exported) }] }
}
