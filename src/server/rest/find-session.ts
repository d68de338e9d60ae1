import { z } from 'zod'
import type { SessionEntry, TreeFilter } from '../../contracts/index.ts'
import { HttpError, isAdmin, type RouteRequest } from '../http/index.ts'
import type { RestDependencies } from './rest-routes.ts'

/** Keys of different owners never meet. */
export const keyFor = ({ caller }: Pick<RouteRequest, 'caller'>, key: string): string =>
  isAdmin(caller) ? key : `${caller.principal.id}/${key}`

/** Which sessions a list contains. */
export const folderSchema = z
  .enum(['here', 'all'])
  .default('here')
  .describe('`here`: sessions of the folder of this server. `all`: also those of other folders, which are read-only here.')

/** For a list of the store. */
export const folderFilter = (folder: 'here' | 'all', { workspace }: Pick<RestDependencies, 'workspace'>): Pick<TreeFilter, 'workspace'> =>
  folder === 'here' && workspace !== undefined ? { workspace } : {}

/** The session that a request is about: by default the one in its path. Throws 404. */
export async function sessionOf(
  { sessions, params, concerns }: Pick<RouteRequest, 'sessions' | 'params' | 'concerns'>,
  id = params.id ?? '',
): Promise<SessionEntry> {
  const entry = await sessions.get(id)
  if (!entry) throw unknownSession(id)
  concerns(entry.sessionId)
  return entry
}

const unknownSession = (id: string): HttpError =>
  new HttpError('not_found', `There is no session ${id}.`, { code: 'session_unknown', remedy: 'List your sessions: GET /v1/sessions' })
