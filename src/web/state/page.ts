import { computed, effect, type ReadonlySignal, signal, untracked } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { AgentDescription, ExtensionStatus } from '../../contracts/index.ts'
import type { OpenRequest, ServerStatus, SessionDocument } from '../api/documents.ts'
import { createHttp } from '../api/http.ts'
import { localTexts, onStored } from './browser-storage.ts'
import { type HashRoute, hashOf, parseHash, takeToken } from './hash-route.ts'
import type { SessionStore } from './session-store.ts'
import { openSettings, type Settings } from './settings.ts'

// Everything that the page knows. Components read signals and call actions; none of them sends requests.

type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** The server does not answer, or has no place for the stream of the page. */
  | { readonly kind: 'lost'; readonly reason: string }
  /** The server refuses the token, or there is none. */
  | { readonly kind: 'refused'; readonly reason: string }

/** A short message at the edge of the page. */
interface Notice {
  readonly id: number
  readonly kind: 'info' | 'error'
  readonly text: string
  readonly remedy?: string | undefined
}

/** `text`: what the palette searches for when it opens. */
type Overlay = { readonly kind: 'palette'; readonly text: string } | { readonly kind: 'keys' }

export type Page = ReturnType<typeof createPage>

export function createPage() {
  const access = createAccess(takeToken('#/'))
  const route = signal(parseHash(location.hash))
  const settings = openSettings()
  const status = signal<ServerStatus | undefined>(undefined)
  const overlay = signal<Overlay | undefined>(undefined)
  const has = (scope: string): ReadonlySignal<boolean> =>
    computed(() => status.value?.scopes.some((each) => each === scope || each === 'admin') ?? false)
  addEventListener('hashchange', () => {
    const next = takeToken(hashOf(route.value))
    if (next === undefined) route.value = parseHash(location.hash)
    else access.offer(next)
  })
  return {
    http: createHttp({
      token: () => access.token.value,
      refused(reason) {
        access.connection.value = { kind: 'refused', reason }
      },
    }),
    ...access,
    ...createNotices(),
    ...{ route, settings, status },
    /** The dialog above the page that keys open. */
    overlay,
    agents: signal<readonly AgentDescription[]>([]),
    /** `undefined`: not known yet. */
    extensions: signal<readonly ExtensionStatus[] | undefined>(undefined),
    /** Whether lists contain the sessions of other folders. */
    folder: signal<'here' | 'all'>('here'),
    /** Newest first. */
    sessions: signal<readonly SessionDocument[]>([]),
    /** `before` of the next page of the list, if there are more. */
    nextSessions: signal<number | undefined>(undefined),
    /** Ids of sessions that were deleted since the page was opened. */
    deleted: signal<ReadonlySet<string>>(new Set()),
    /** Open requests of all sessions. */
    requests: signal<readonly OpenRequest[]>([]),
    /** The session that is shown. */
    session: signal<SessionStore | undefined>(undefined),
    /** The node that is selected in the timeline and the conversation. */
    selected: signal<string | undefined>(undefined),
    /** The time of the browser, twice a second while something runs. */
    now: signal(Date.now()),
    /** The sidebar of a phone. */
    isDrawerOpen: signal(false),
    /** What is shown of a session where there is no room for both. */
    tab: signal<'conversation' | 'timeline'>('conversation'),
    mayRun: has('run'),
    mayApprove: has('approve'),
    isAdmin: has('admin'),
    go(next: HashRoute): void {
      location.hash = hashOf(next)
    },
    show(next: Overlay | undefined): void {
      overlay.value = next
    },
    set(changes: Partial<Settings>): void {
      settings.value = { ...settings.value, ...changes }
    },
  }
}

const infoMs = 6_000

function createNotices() {
  const notices = signal<readonly Notice[]>([])
  let last = 0
  const dismiss = (id: number): void => {
    notices.value = notices.value.filter((each) => each.id !== id)
  }
  const notify = (notice: Omit<Notice, 'id'>): void => {
    const id = ++last
    notices.value = [...notices.value.slice(-3), { ...notice, id }]
    // An error stays until it is closed or a later action succeeds.
    if (notice.kind === 'info') setTimeout(() => dismiss(id), infoMs)
  }
  return { notices, notify, dismiss }
}

/** The token, and whether it is accepted. */
function createAccess(given: string | undefined) {
  const token = signal(localTexts.get('token') ?? '')
  /** How often a token was given: the same one may be tried again. */
  const tokenGiven = signal(0)
  /** A token of an address, while the server accepts another one: a person decides. */
  const offeredToken = signal<string | undefined>(undefined)
  const connection = signal<Connection>({ kind: 'connecting' })
  const setToken = (next: string): void => {
    offeredToken.value = undefined
    token.value = next
    localTexts.set('token', next)
    connection.value = { kind: 'connecting' }
    tokenGiven.value++
  }
  /** An address that somebody else wrote must not replace a token that works. */
  const offer = (next: string): void => {
    if (token.value === '') setToken(next)
    else if (next !== token.value) offeredToken.value = next
  }
  if (given !== undefined) offer(given)
  onStored('token', (next) => {
    if (next !== token.value) setToken(next)
  })
  effect(() => {
    const { value: next } = offeredToken
    if (connection.value.kind === 'refused' && next !== undefined) untracked(() => setToken(next))
  })
  return { token, tokenGiven, offeredToken, connection, setToken, offer }
}

const PageContext = createContext<Page | undefined>(undefined)
export const PageProvider = PageContext.Provider

export function usePage(): Page {
  const page = useContext(PageContext)
  if (!page) throw new Error('A component is rendered outside of the page.')
  return page
}
