import type { ContinuesElsewhere } from '../../contracts/index.ts'
import type { OpenRequest, SessionDocument } from '../api/documents.ts'
import type { Page } from './page.ts'

/** The session in the list, or of an open request. */
const documentOf = ({ sessions, requests }: Page, id: string): SessionDocument | undefined =>
  sessions.value.find(({ sessionId }) => sessionId === id) ?? requests.value.find(({ session }) => session.sessionId === id)?.session

/** Why the server refuses messages, answers and stops for a session, and what continues it. `undefined`: it takes them. */
export function readOnly(page: Page, id: string): ContinuesElsewhere | undefined {
  const { continue: continues } = documentOf(page, id) ?? {}
  return continues?.here === false ? continues : undefined
}

/** Open requests that can be answered here. */
export const answerable = ({ requests }: Pick<Page, 'requests'>): readonly OpenRequest[] =>
  requests.value.filter(({ session }) => session.continue?.here !== false)

/** Whether the process of a session has ended in mid turn: the server knows, its events do not. */
export const isReleased = (page: Page, id: string): boolean => documentOf(page, id)?.reason === 'released'

export const folderName = (path: string): string => /[^/\\]+(?=[/\\]?$)/.exec(path)?.[0] ?? path
