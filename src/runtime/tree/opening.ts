import type {
  AgentChanges,
  AgentSpec,
  ClientId,
  EventDraft,
  InboxMessage,
  InteractionEvent,
  Message,
  Principal,
  TraceContext,
  TreeIdentity,
} from '../../contracts/index.ts'
import { apply, nextInput, type SessionState, turnIdOf } from '../../core/index.ts'
import type { Interrupt } from '../../util/interrupt.ts'
import type { Redactor } from '../../util/redact.ts'
import type { OwnerAccounts } from '../budgets/owner-accounts.ts'
import type { TreeAccount } from '../budgets/tree-account.ts'
import { withChanges } from '../changes/reconfigure-session.ts'
import { redactChanges, redactMessage } from '../inputs/redact-message.ts'

/** What a caller sets for a new session. */
export interface Opening {
  readonly principal: Principal | undefined
  readonly identity: TreeIdentity
  /** By `sessions.start`, which refuses a session that its owner cannot pay. A run ends with that reason. */
  readonly isStart: boolean
  /** The id of the tree follows from it: another process may start the same tree. It is the id of the first input. */
  readonly clientId: ClientId | undefined
  readonly history: readonly Message[]
  readonly changes: AgentChanges | undefined
  readonly traceContext?: TraceContext | undefined
  /** The account of the owner, if it has a budget. Opened before anything is asked or stored. */
  account?: TreeAccount | undefined
}

/** For a run. */
export const openedBy = ({ id, kind, name }: Principal): Opening => ({
  principal: { id, kind, ...(name !== undefined && { name }) },
  identity: { owner: id },
  isStart: false,
  clientId: undefined,
  history: [],
  changes: undefined,
})

/** Opens the account of the owner. */
export async function openAccount(opening: Opening, accounts: OwnerAccounts, startInterrupt: Interrupt): Promise<void> {
  opening.account = opening.principal && (await accounts.open(opening.principal.id, startInterrupt))
  if (opening.isStart) opening.account?.account.refuseIfExhausted()
}

/** A message that may begin a turn. */
export type Beginning = Extract<InboxMessage, { kind: 'input' | 'send_held' }>

/** Begins the next turn with a copy of the state, to see what its first request needs. Without an input there is no turn. */
export function begunTurn(state: SessionState, message?: Beginning): SessionState {
  const next = message ? applied(state, eventOf(message, state.inboxCursor + 1)) : state
  const input = nextInput(next)
  if (next.turn.kind === 'open' || !input) return next
  return applied(next, { type: 'interaction.turn.started', turnId: turnIdOf(next.turns + 1), inputs: [input.clientId] })
}

const eventOf = (message: Beginning, inbox: number): EventDraft =>
  message.kind === 'send_held'
    ? { type: 'interaction.held.sent', by: message.by, inbox }
    : { type: 'interaction.input.accepted', clientId: 'next' as ClientId, parts: message.parts, mode: message.mode, inbox }

function applied(state: SessionState, draft: EventDraft): SessionState {
  const { seq, treeId, sessionId, agentPath, at } = state
  return apply(state, { seq: seq + 1, treeId, sessionId, agentPath, at, ...draft } as InteractionEvent)
}

/** Everything in it is stored and shown. */
export function withoutSecrets(opening: Opening, redactor: Redactor): Opening {
  const { changes, history, identity } = opening
  const { labels } = identity
  return {
    ...opening,
    identity: labels ? { ...identity, labels: labels.map((label) => redactor.text(label)) } : identity,
    history: history.map((message) => redactMessage(message, redactor)),
    changes: redactChanges(changes, redactor),
  }
}

export const openingAgent = (agent: AgentSpec, { changes }: Opening): AgentSpec => (changes ? withChanges(agent, changes) : agent)
