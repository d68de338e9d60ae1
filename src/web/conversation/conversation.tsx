import { useSignalEffect } from '@preact/signals'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { usePage } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { Icon } from '../ui/icon.tsx'
import { AgentFlow } from './agent-flow.tsx'
import { answerOf } from './conversation-items.ts'
import { ConversationView, elementOf, useView, ViewProvider } from './conversation-view.ts'
import { Tray } from './tray.tsx'
import { useStickToEnd } from './use-stick-to-end.ts'
import { PendingMessageView } from './user-message.tsx'

export function Conversation({ store }: { readonly store: SessionStore }) {
  const view = useMemo(() => new ConversationView(store, AgentFlow), [store])
  return (
    <ViewProvider value={view}>
      <Messages view={view} />
      <Announcer store={store} />
    </ViewProvider>
  )
}

function Messages({ view }: { readonly view: ConversationView }) {
  const { store } = view
  const { box, content, isAtEnd, isMoreBelow, toEnd, hold } = useStickToEnd()
  view.hold = hold
  const showLatest = (): void => {
    view.showLatest()
    toEnd()
  }
  useRevealed(view, box)
  const { length } = store.pending.value
  const before = useRef(length)
  useEffect(() => {
    if (length > before.current) toEnd()
    before.current = length
  }, [length])
  const isLoading = useLoading(store)
  if (!store.root) void store.frame.value
  return (
    <div class="pane grow conv-frame">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      {/* biome-ignore lint/a11y/useSemanticElements: a group of messages, not of controls */}
      <div class="conv" ref={box} role="group" aria-label="Messages" tabIndex={0} aria-busy={isLoading}>
        <div class="conv-column" ref={content}>
          {isLoading && <Skeleton />}
          {!isLoading && store.root && <AgentFlow agent={store.root} />}
          <Pending />
        </div>
      </div>
      <div class="conv-below">
        {!isAtEnd.value && isMoreBelow.value && (
          <button type="button" class="button button-small jump" onClick={showLatest}>
            <Icon name="arrowDown" />
            Jump to latest
          </button>
        )}
        {!isLoading && <Tray />}
      </div>
    </div>
  )
}

const patienceMs = 1_500

/** A long session is rendered once, not while its events arrive, unless that takes long. */
function useLoading({ state, root }: SessionStore): boolean {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), patienceMs)
    return () => clearTimeout(timer)
  }, [])
  return state.value === 'loading' && !(isLate && root)
}

/** Messages that are being sent while nothing runs. */
function Pending() {
  const { store } = useView()
  const turn = store.root && store.use(store.root).turns.at(-1)
  if (turn && store.use(turn).ending === undefined) return null
  return (
    <>
      {store.pending.value.map((message) => (
        <PendingMessageView key={message.clientId} message={message} />
      ))}
    </>
  )
}

/** Shows the node that was selected elsewhere, and the message of the address. */
function useRevealed(view: ConversationView, box: { readonly current: HTMLElement | null }): void {
  const page = usePage()
  const show = (id: string): void => {
    const ids = view.reveal(id)
    // What was opened is rendered first.
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        const element = ids.map((each) => box.current && elementOf(box.current, each)).find(Boolean)
        if (!element || !box.current) return
        view.hold()
        scrollTo(box.current, element)
      }),
    )
  }
  useSignalEffect(() => {
    const { value: id } = page.selected
    if (id !== undefined && id !== view.chosen) show(id)
    view.chosen = undefined
  })
  useSignalEffect(() => {
    const { value: route } = page.route
    if (view.store.state.value === 'ready' && route.view === 'session' && route.message !== undefined) show(route.message)
  })
}

/** Scrolls this box only: `scrollIntoView` moves everything around it, too. A tall element begins at the top, another one is in the middle. */
function scrollTo(box: HTMLElement, element: HTMLElement): void {
  const room = box.clientHeight - element.clientHeight
  const above = element.clientHeight > box.clientHeight / 2 ? 8 : room / 2
  box.scrollTop += element.getBoundingClientRect().top - box.getBoundingClientRect().top - above
}

const longestAnnouncement = 2_000

/** Reads an answer out when it is complete. */
function Announcer({ store }: { readonly store: SessionStore }) {
  const [text, setText] = useState('')
  const last = useRef<string>(undefined)
  useSignalEffect(() => {
    void store.frame.value
    const turn = store.root?.turns.at(-1)
    const isOver = turn?.ending !== undefined
    const state = turn && `${turn.id} ${turn.status}`
    // What was complete when the page opened is not news.
    const isNews = last.current !== undefined && last.current !== state && isOver && store.state.peek() === 'ready'
    last.current = state ?? ''
    if (isNews && turn)
      setText(`${store.root?.name ?? ''}: ${turn.status === 'completed' ? answerOf(turn).slice(0, longestAnnouncement) : turn.status}`)
  })
  return (
    <div class="visually-hidden" role="status" aria-live="polite">
      {text}
    </div>
  )
}

const Skeleton = () => (
  <div class="stack skeleton" aria-hidden="true">
    {[38, 92, 84, 61].map((width) => (
      <div key={width} style={{ width: `${width}%` }} />
    ))}
  </div>
)
