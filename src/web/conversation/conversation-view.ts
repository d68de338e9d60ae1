import { type Signal, signal } from '@preact/signals'
import { type ComponentType, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { AgentNode, NodeId } from '../../view/index.ts'
import type { SessionStore } from '../state/session-store.ts'
import { placesOf, rangeWith, type ShownRange } from './conversation-items.ts'

/** Operations of a turn that are shown at first, and how many more on request. */
const firstOperations = 40
export const moreOperations = 200

/** `isNested`: in the card of a child, whose messages come from its parent. */
export interface AgentFlowProps {
  readonly agent: AgentNode
  readonly isNested?: boolean
}

/** What a person opened, and how far a conversation is shown. It lasts as long as the conversation is on the page. */
export class ConversationView {
  readonly store: SessionStore
  /** Shows an agent within a step of another one. */
  readonly AgentFlow: ComponentType<AgentFlowProps>
  #open = new Map<NodeId, Signal<boolean | undefined>>()
  #ranges = new Map<NodeId, Signal<ShownRange>>()
  /** Called before a person opens or closes something, so that the end of the conversation does not pull it away. */
  hold: () => void = () => {}
  /** The node that was selected here: it is visible already. */
  chosen: NodeId | undefined

  constructor(store: SessionStore, AgentFlow: ComponentType<AgentFlowProps>) {
    this.store = store
    this.AgentFlow = AgentFlow
  }

  /** `undefined`: nobody has opened or closed it. */
  open(id: NodeId): Signal<boolean | undefined> {
    return entryIn(this.#open, id, undefined)
  }

  range(turn: NodeId): Signal<ShownRange> {
    return entryIn(this.#ranges, turn, { limit: firstOperations })
  }

  /** The last operations of all turns are shown again. */
  showLatest(): void {
    for (const range of this.#ranges.values()) if (range.value.to !== undefined) range.value = { limit: firstOperations }
  }

  /** Opens everything that contains a node. Returns the ids whose elements show it, the best one first. */
  reveal(id: NodeId): readonly NodeId[] {
    const { root } = this.store
    const places = (root && placesOf(root, id)) ?? []
    for (const { turn, ...place } of places) {
      const range = this.range(turn.id)
      range.value = rangeWith(turn, place, range.peek())
    }
    for (const { call } of places.slice(0, -1)) if (call) this.open(call.id).value = true
    return [id, ...places.toReversed().flatMap(({ turn, step, call }) => [call?.id ?? [], step?.id ?? [], turn.id].flat())]
  }
}

function entryIn<Value>(known: Map<NodeId, Signal<Value>>, id: NodeId, initial: Value): Signal<Value> {
  const found = known.get(id) ?? signal(initial)
  known.set(id, found)
  return found
}

/** The element of a node has its id as `data-node`, and a message as `data-message`. */
export const elementOf = (box: ParentNode, id: NodeId): HTMLElement | null =>
  box.querySelector<HTMLElement>(`[data-node="${CSS.escape(id)}"], [data-message="${CSS.escape(id)}"]`)

const ViewContext = createContext<ConversationView | undefined>(undefined)
export const ViewProvider = ViewContext.Provider

export function useView(): ConversationView {
  const view = useContext(ViewContext)
  if (!view) throw new Error('A component is rendered outside of a conversation.')
  return view
}
