import { computed, effect, untracked } from '@preact/signals'
import type { AgentDescription, ExtensionStatus, StreamEvent } from '../../contracts/index.ts'
import { type ServerEvent, serverEvents } from '../../util/server-events.ts'
import type { OpenRequest, ServerStatus, SessionDocument, SessionPage } from '../api/documents.ts'
import { ApiError } from '../api/http.ts'
import type { Page } from './page.ts'
import { browserWaiting, failuresAfter, waitForNext } from './reconnect.ts'
import { SessionStore } from './session-store.ts'

// Keeps the page equal to the server.
//
// 1. One stream for the page: changes of the list, and the events of the session that is shown.
// 2. The list is read after the stream has opened, so that no change is missed.
// 3. A stream that ends is opened again after the last event that was folded: nothing is lost, and nothing comes twice.
// 4. Sessions that were shown stay folded: going back to one is instant.

/** Heartbeats come every 15 seconds. */
const silenceMs = 40_000
/** Work on events before the browser gets its turn. */
const sliceMs = 8
const maxStores = 6
const pageSize = 100

/** Runs as long as the page. */
export function connect(page: Page): void {
  const stores = new Map<string, SessionStore>()
  const shownId = computed(() => (page.route.value.view === 'session' ? page.route.value.id : undefined))
  let current: AbortController | undefined
  effect(() => {
    const { value: id } = shownId
    void page.tokenGiven.value
    void page.folder.value
    untracked(() => {
      current?.abort()
      current = new AbortController()
      page.session.value = id === undefined ? undefined : storeFor(page, stores, id)
      page.selected.value = undefined
      void follow(page, page.session.value, current.signal)
    })
  })
}

function storeFor({ http }: Page, stores: Map<string, SessionStore>, id: string): SessionStore {
  const known = stores.get(id)
  const store = known && known.state.value !== 'deleted' ? known : new SessionStore(id, http.ahead)
  stores.delete(id)
  stores.set(id, store)
  // A message that was not accepted may be too large to be stored elsewhere.
  for (const [old, { pending }] of [...stores].slice(0, -maxStores)) if (pending.value.length === 0) stores.delete(old)
  return store
}

async function follow(page: Page, store: SessionStore | undefined, signal: AbortSignal): Promise<void> {
  let shown = store
  for (let failures = 0; !signal.aborted; ) {
    let hasWorked = false
    let reason = 'The server does not answer.'
    const worked = (): void => {
      hasWorked = true
    }
    try {
      await read(page, shown, { signal, worked })
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
        page.connection.value = { kind: 'refused', reason: error.message }
        return
      }
      // The session does not exist, or no longer. The list is still of interest.
      if (error instanceof ApiError && error.status === 404 && shown) {
        shown.state.value = 'deleted'
        shown = undefined
        continue
      }
      if (error instanceof ApiError && error.status === 429) reason = error.message
    }
    if (signal.aborted) return
    page.connection.value = { kind: 'lost', reason }
    failures = failuresAfter(failures, hasWorked)
    if ((await waitForNext(failures, browserWaiting, signal)) === 'returned') failures = 0
  }
}

interface Reading {
  readonly signal: AbortSignal
  /** The server has delivered something: this was no page of a gateway. */
  worked(): void
}

async function read(page: Page, store: SessionStore | undefined, { signal, worked }: Reading): Promise<void> {
  const silence = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const heard = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), silenceMs)
  }
  heard()
  const query = new URLSearchParams({ folder: page.folder.value, ...(store && { session: store.id, after: String(store.seq) }) })
  try {
    const stream = await page.http.open(`/v1/watch?${query}`, AbortSignal.any([signal, silence.signal]))
    page.connection.value = { kind: 'open' }
    // What could not be read is read again with the next stream.
    void refresh(page, store).then(worked, () => silence.abort())
    let since = performance.now()
    for await (const event of serverEvents(stream, heard)) {
      if (signal.aborted) return
      take(page, store, event)
      worked()
      if (performance.now() - since < sliceMs) continue
      await yieldToBrowser()
      since = performance.now()
    }
  } finally {
    clearTimeout(timer)
  }
}

function take(page: Page, store: SessionStore | undefined, { event, data }: ServerEvent): void {
  switch (event) {
    case 'session.changed':
      changed(page, JSON.parse(data) as SessionDocument)
      break
    case 'session.deleted': {
      const { sessionId } = JSON.parse(data) as { readonly sessionId: string }
      page.deleted.value = new Set([...page.deleted.value, sessionId])
      page.sessions.value = page.sessions.value.filter((each) => each.sessionId !== sessionId)
      page.requests.value = page.requests.value.filter(({ session }) => session.sessionId !== sessionId)
      if (store?.id === sessionId) store.state.value = 'deleted'
      break
    }
    case 'server.changed':
      void readServer(page).catch(() => {})
      break
    case 'error':
      throw streamError(data)
    default:
      store?.apply(JSON.parse(data) as StreamEvent)
      if (store?.state.value === 'loading' && store.seq >= (entryOf(page, store.id)?.seq ?? Number.POSITIVE_INFINITY))
        store.state.value = 'ready'
  }
}

/** A stream whose token is no longer valid is refused like a request. */
function streamError(data: string): Error {
  const { error } = JSON.parse(data) as { readonly error?: { readonly code: string; readonly message: string } }
  if (error?.code === 'token_revoked') return new ApiError(error.message, { status: 401, code: error.code })
  return new Error('The stream ended with an error.')
}

const entryOf = (page: Page, id: string): SessionDocument | undefined => page.sessions.value.find(({ sessionId }) => sessionId === id)

function changed(page: Page, session: SessionDocument): void {
  const known = entryOf(page, session.sessionId)
  page.sessions.value = known
    ? page.sessions.value.map((each) => (each === known ? session : each))
    : [session, ...page.sessions.value].toSorted((a, b) => b.cursor - a.cursor)
  if ((known?.openRequests ?? 0) !== session.openRequests || session.openRequests > 0) void readRequests(page).catch(() => {})
}

/** Whatever has changed while the page did not hear of it. */
async function refresh(page: Page, store: SessionStore | undefined): Promise<void> {
  // A conversation does not wait for the rest. The stream reports a session that does not exist.
  if (store?.state.value === 'loading') void settle(page, store).catch(() => {})
  const [list] = await Promise.all([
    page.http.get<SessionPage>(`/v1/sessions?folder=${page.folder.value}&limit=${pageSize}`),
    readServer(page),
    readRequests(page),
  ])
  page.sessions.value = list.sessions
  page.nextSessions.value = list.next
  if (store && (store.state.value === 'loading' || !entryOf(page, store.id))) await settle(page, store)
}

/** What the server is: its agents, extensions and warnings. */
async function readServer(page: Page): Promise<void> {
  const { http } = page
  const [status, { agents }, { extensions }] = await Promise.all([
    http.get<ServerStatus>('/v1/status'),
    http.get<{ readonly agents: readonly AgentDescription[] }>('/v1/agents'),
    http.get<{ readonly extensions: readonly ExtensionStatus[] }>('/v1/extensions'),
  ])
  if (page.status.value && page.status.value.version !== status.version)
    page.notify({ kind: 'info', text: `The server now runs version ${status.version}.`, remedy: 'Reload the page to use it.' })
  page.status.value = status
  page.agents.value = agents
  page.extensions.value = extensions
}

/** Whether everything so far has been folded. A session may be too old for the list. */
async function settle(page: Page, store: SessionStore): Promise<void> {
  const entry = entryOf(page, store.id) ?? (await page.http.get<{ readonly session: SessionDocument }>(`/v1/sessions/${store.id}`)).session
  if (!entryOf(page, store.id)) page.sessions.value = [...page.sessions.value, entry].toSorted((a, b) => b.cursor - a.cursor)
  if (store.seq >= entry.seq && store.state.value === 'loading') store.state.value = 'ready'
}

export async function loadMoreSessions({ http, sessions, nextSessions, folder }: Page): Promise<void> {
  const { value: before } = nextSessions
  if (before === undefined) return
  const page = await http.get<SessionPage>(`/v1/sessions?folder=${folder.value}&limit=${pageSize}&before=${before}`)
  const known = new Set(sessions.value.map(({ sessionId }) => sessionId))
  sessions.value = [...sessions.value, ...page.sessions.filter(({ sessionId }) => !known.has(sessionId))]
  nextSessions.value = page.next
}

/** Pages that read the open requests now; `again`: something changed meanwhile. */
const reading = new WeakMap<object, 'now' | 'again'>()

export async function readRequests(page: Pick<Page, 'http' | 'requests' | 'folder'>): Promise<void> {
  if (reading.has(page)) {
    reading.set(page, 'again')
    return
  }
  try {
    do {
      reading.set(page, 'now')
      const { approvals } = await page.http.get<{ readonly approvals: readonly OpenRequest[] }>(`/v1/approvals?folder=${page.folder.value}`)
      page.requests.value = approvals
    } while (reading.get(page) === 'again')
  } finally {
    reading.delete(page)
  }
}

const yieldToBrowser = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => resolve()
    port2.postMessage(undefined)
  })
