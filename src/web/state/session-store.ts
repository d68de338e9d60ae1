import { batch, type Signal, signal } from '@preact/signals'
import type { InputMode, InputPart, StreamEvent } from '../../contracts/index.ts'
import { type AgentNode, applyEvent, emptyTree, isRunning, type NodeId, type RunTree } from '../../view/index.ts'
import type { TurnSettings } from './turn-settings.ts'
import { keepUnsent } from './unsent.ts'

// A session, folded from its events.
//
// 1. Events are folded when they arrive; components render at most once a frame.
// 2. A component that reads a node calls `use(node)` first: it renders again when that node has changed.
// 3. `seq` is the last durable event that was folded: a stream continues after it, and an event that comes again is ignored.

export interface PendingMessage {
  readonly clientId: string
  readonly parts: readonly InputPart[]
  readonly mode: InputMode
  readonly settings: TurnSettings | undefined
  readonly state:
    | { readonly kind: 'sending' }
    | { readonly kind: 'failed'; readonly message: string }
    /** The server has it, but no process takes it. */
    | { readonly kind: 'stored'; readonly message: string; readonly command?: string | undefined }
}

type SessionState = 'loading' | 'ready' | 'deleted'

export class SessionStore {
  readonly id: string
  readonly tree: RunTree = emptyTree({ keepsContent: true })
  readonly state = signal<SessionState>('loading')
  /** Grows with each frame in which anything has changed. */
  readonly frame = signal(0)
  /** Messages that the server has not accepted yet. */
  readonly pending = signal<readonly PendingMessage[]>([])
  seq = 0
  #versions = new Map<NodeId, Signal<number>>()
  #dirty = new Set<NodeId>()
  #isScheduled = false
  /** How far the latest event was ahead of the clock of the browser when it came, in milliseconds. */
  #ahead = Number.NEGATIVE_INFINITY
  #serverAhead: () => number

  /** `serverAhead`: how far the clock of the server is ahead. */
  constructor(id: string, serverAhead: () => number) {
    this.id = id
    this.#serverAhead = serverAhead
    keepUnsent(id, this.pending)
  }

  get root(): AgentNode | undefined {
    return this.tree.roots[0]
  }

  /** Renders the calling component again when the node changes. Returns the node. */
  use<Node extends { readonly id: NodeId }>(node: Node): Node {
    let version = this.#versions.get(node.id)
    if (!version) {
      version = signal(0)
      this.#versions.set(node.id, version)
    }
    void version.value
    return node
  }

  apply(event: StreamEvent): void {
    if ('seq' in event) {
      if (event.seq <= this.seq) return
      this.seq = event.seq
      this.#ahead = Math.max(this.#ahead, event.at - Date.now())
      if (event.type === 'interaction.input.accepted') this.#accepted(event.clientId)
    }
    for (const id of applyEvent(this.tree, event).changed) this.#dirty.add(id)
    this.#schedule()
  }

  /** The time of the server, for durations that grow. */
  now(): number {
    return Date.now() + Math.max(this.#serverAhead(), this.#ahead)
  }

  isRunning(): boolean {
    const turn = this.root?.turns.at(-1)
    return turn !== undefined && isRunning(turn)
  }

  #accepted(clientId: string): void {
    this.pending.value = this.pending.value.filter((each) => each.clientId !== clientId)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    onNextFrame(() => {
      this.#isScheduled = false
      const dirty = this.#dirty
      this.#dirty = new Set()
      batch(() => {
        this.frame.value++
        for (const id of dirty) {
          const version = this.#versions.get(id)
          if (version) version.value++
        }
      })
    })
  }
}

/** Frames do not come in a page that is not visible, where nothing needs to be fast. */
const onNextFrame = (render: () => void): void => {
  if (document.visibilityState === 'visible') requestAnimationFrame(render)
  else setTimeout(render, 100)
}
