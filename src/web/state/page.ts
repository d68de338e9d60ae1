import { computed, effect, type ReadonlySignal, type Signal, signal, untracked } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { AgentDescription, ExtensionStatus, OpenRequest, ServerStatus, SessionDocument } from '../api/documents.ts'
import { createHttp, type Http } from '../api/http.ts'
import { type HashRoute, hashOf, parseHash } from './hash-route.ts'
import type { SessionStore } from './session-store.ts'
import { openSettings, type Settings } from './settings.ts'
import { storedToken, storeToken, takeToken } from './token.ts'

// Everything that the page knows. Components read signals and call actions; none of them sends requests.

export type Connection =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** The server does not answer. */
  | { readonly kind: 'lost' }
  /** The server refuses the token, or there is none. */
  | { readonly kind: 'refused'; readonly reason: string }

/** A short message at the edge of the page. */
export interface Notice {
  readonly id: number
  readonly kind: 'info' | 'error'
  readonly text: string
  readonly remedy?: string | undefined
}

/** `text`: what the palette searches for when it opens. */
export type Overlay = { readonly kind: 'palette'; readonly text: string } | { readonly kind: 'keys' }

export interface Page {
  readonly http: Http
  readonly token: Signal<string>
  /** How often a token was given: the same one may be tried again. */
  readonly tokenGiven: Signal<number>
  /** A token of an address, while the server accepts another one: a person decides. */
  readonly offeredToken: Signal<string | undefined>
  readonly connection: Signal<Connection>
  readonly route: Signal<HashRoute>
  readonly settings: Signal<Settings>
  readonly status: Signal<ServerStatus | undefined>
  readonly agents: Signal<readonly AgentDescription[]>
  /** `undefined`: not known yet. */
  readonly extensions: Signal<readonly ExtensionStatus[] | undefined>
  /** Newest first. */
  readonly sessions: Signal<readonly SessionDocument[]>
  /** `before` of the next page of the list, if there are more. */
  readonly nextSessions: Signal<number | undefined>
  /** Ids of sessions that were deleted since the page was opened. */
  readonly deleted: Signal<ReadonlySet<string>>
  /** Open requests of all sessions. */
  readonly requests: Signal<readonly OpenRequest[]>
  /** The session that is shown. */
  readonly session: Signal<SessionStore | undefined>
  /** The node that is selected in the timeline and the conversation. */
  readonly selected: Signal<string | undefined>
  readonly notices: Signal<readonly Notice[]>
  /** The time of the browser, twice a second while something runs. */
  readonly now: Signal<number>
  /** The dialog above the page that keys open. */
  readonly overlay: Signal<Overlay | undefined>
  /** The sidebar of a phone. */
  readonly isDrawerOpen: Signal<boolean>
  /** What is shown of a session where there is no room for both. */
  readonly tab: Signal<'conversation' | 'timeline'>
  readonly mayRun: ReadonlySignal<boolean>
  readonly mayApprove: ReadonlySignal<boolean>
  go(route: HashRoute): void
  /** Opens a dialog above the page, or closes it. */
  show(overlay: Overlay | undefined): void
  setToken(token: string): void
  set(changes: Partial<Settings>): void
  notify(notice: Omit<Notice, 'id'>): void
  dismiss(id: number): void
}

const infoMs = 6_000

export function createPage(): Page {
  const access = createAccess(takeToken('#/'))
  const { connection } = access
  const route = signal(parseHash(location.hash))
  const settings = openSettings()
  const status = signal<ServerStatus | undefined>(undefined)
  const notices = signal<readonly Notice[]>([])
  const overlay = signal<Overlay | undefined>(undefined)
  const has = (scope: string): ReadonlySignal<boolean> =>
    computed(() => status.value?.scopes.some((each) => each === scope || each === 'admin') ?? false)
  addEventListener('hashchange', () => {
    const next = takeToken(hashOf(route.value))
    if (next === undefined) route.value = parseHash(location.hash)
    else access.offer(next)
  })
  let lastNotice = 0
  const dismiss = (id: number): void => {
    notices.value = notices.value.filter((each) => each.id !== id)
  }
  return {
    http: createHttp({
      token: () => access.token.value,
      refused(reason) {
        connection.value = { kind: 'refused', reason }
      },
    }),
    ...access,
    ...{ route, settings, status, notices, overlay },
    agents: signal([]),
    extensions: signal(undefined),
    sessions: signal([]),
    nextSessions: signal(undefined),
    deleted: signal(new Set()),
    requests: signal([]),
    session: signal(undefined),
    selected: signal(undefined),
    now: signal(Date.now()),
    isDrawerOpen: signal(false),
    tab: signal('conversation'),
    mayRun: has('run'),
    mayApprove: has('approve'),
    go(next) {
      location.hash = hashOf(next)
    },
    show(next) {
      overlay.value = next
    },
    set(changes) {
      settings.value = { ...settings.value, ...changes }
    },
    notify(notice) {
      const id = ++lastNotice
      notices.value = [...notices.value.slice(-3), { ...notice, id }]
      // An error stays until it is closed.
      if (notice.kind === 'info') setTimeout(() => dismiss(id), infoMs)
    },
    dismiss,
  }
}

/** The token, and whether it is accepted. */
function createAccess(given: string | undefined) {
  const token = signal(storedToken())
  const tokenGiven = signal(0)
  const offeredToken = signal<string | undefined>(undefined)
  const connection = signal<Connection>({ kind: 'connecting' })
  const setToken = (next: string): void => {
    offeredToken.value = undefined
    token.value = next
    storeToken(next)
    connection.value = { kind: 'connecting' }
    tokenGiven.value++
  }
  /** An address that somebody else wrote must not replace a token that works. */
  const offer = (next: string): void => {
    if (token.value === '') setToken(next)
    else if (next !== token.value) offeredToken.value = next
  }
  if (given !== undefined) offer(given)
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
