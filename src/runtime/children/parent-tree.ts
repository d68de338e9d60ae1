import type { AgentSpec, InteractionEvent, MaybePromise } from '../../contracts/index.ts'
import type { SessionState } from '../../core/index.ts'
import type { ActiveSession, ToolRegistry } from '../../steps/index.ts'
import type { TreeAccount } from '../budgets/tree-account.ts'
import type { RuntimeParts } from '../parts/runtime-parts.ts'

/** The tree, for the children that its calls start. */
export interface ParentTree {
  readonly parts: RuntimeParts
  readonly registry: ToolRegistry
  readonly root: ActiveSession
  readonly account: TreeAccount | undefined
  readonly nextSeq: number
  readonly now: number
  createSession(state: SessionState): ActiveSession
  /** The tools of an agent in this tree: those of its last turn, or of `toolsFor`. */
  registryOf(agent: AgentSpec): ToolRegistry
  push(event: InteractionEvent): void
  /** Resolves when everything passed to the journal so far is durable. */
  handedOver(): MaybePromise<void>
  /** Records what sources say about their tools, once for each text. */
  addInstructions(session: ActiveSession): void
}
