import {
  type AgentNode,
  type AttemptNode,
  type CallNode,
  childrenOf,
  type NodeId,
  type RequestNode,
  type RunTree,
  type StepNode,
  type TurnNode,
} from '../../view/index.ts'

// The tree as a list of rows: agent → turn → step → failed attempt, call or open request. A call of an agent and that agent are
// one row, with the steps of all its turns below; an agent that a tool has started has its own. Built anew for each frame, so a row is small: `row-facts.ts` says the rest.
// The operation of a node is always the same object, and has the node under its kind.

export type Operation =
  | { readonly kind: 'agent'; readonly agent: AgentNode }
  | { readonly kind: 'turn'; readonly agent: AgentNode; readonly turn: TurnNode }
  | { readonly kind: 'step'; readonly agent: AgentNode; readonly turn: TurnNode; readonly step: StepNode }
  | { readonly kind: 'attempt'; readonly agent: AgentNode; readonly turn: TurnNode; readonly step: StepNode; readonly attempt: AttemptNode }
  | { readonly kind: 'call'; readonly agent: AgentNode; readonly turn: TurnNode; readonly call: CallNode }
  | { readonly kind: 'request'; readonly agent: AgentNode; readonly turn: TurnNode; readonly request: RequestNode }

export interface Row {
  /** The id of its node; of an open request, the id that its call will have. */
  readonly id: NodeId
  readonly of: Operation
  /** From 1. */
  readonly level: number
  readonly parent: Row | undefined
  /** Among the children of its parent, from 1. */
  position: number
  children: number
}

/** The node of an operation. */
export const nodeOf = (of: Operation): object => (of as unknown as { readonly [kind: string]: object })[of.kind] ?? of

const operations = new WeakMap<object, Operation>()

class Builder {
  readonly rows: Row[] = []
  roots = 0

  add(parent: Row | undefined, id: NodeId, made: Operation): Row {
    const of = operations.get(nodeOf(made)) ?? made
    operations.set(nodeOf(of), of)
    const position = parent ? ++parent.children : ++this.roots
    const row: Row = { id, of, level: (parent?.level ?? 0) + 1, parent, position, children: 0 }
    this.rows.push(row)
    return row
  }

  turn(parent: Row, agent: AgentNode, turn: TurnNode): void {
    for (const step of turn.steps) {
      const row = this.add(parent, step.id, { kind: 'step', agent, turn, step })
      for (const attempt of step.attempts)
        if (attempt.failure) this.add(row, `${step.id}~${attempt.number}~${attempt.model}`, { kind: 'attempt', agent, turn, step, attempt })
      for (const call of step.calls) this.call(row, { kind: 'call', agent, turn, call })
      for (const request of step.requests.values()) {
        const id = `${agent.id}/${request.itemId}`
        // A call that has started waits itself.
        if (!step.calls.some((call) => call.id === id)) this.add(row, id, { kind: 'request', agent, turn, request })
      }
    }
  }

  call(parent: Row, of: Extract<Operation, { kind: 'call' }>): void {
    const { call } = of
    const row = this.add(parent, call.id, of)
    for (const agent of childrenOf(call)) {
      // A tool that starts agents is none of them.
      const own = call.isAgent ? row : this.add(row, agent.id, { kind: 'agent', agent })
      for (const turn of agent.turns) this.turn(own, agent, turn)
    }
  }
}

export function allRows({ roots }: RunTree): readonly Row[] {
  const builder = new Builder()
  for (const agent of roots) {
    const root = builder.add(undefined, agent.id, { kind: 'agent', agent })
    for (const turn of agent.turns) builder.turn(builder.add(root, turn.id, { kind: 'turn', agent, turn }), agent, turn)
  }
  return builder.rows
}

/** Rows that match, with their ancestors. Their positions are those among the rows that are left. */
export function matchingRows(
  rows: readonly Row[],
  matches: (row: Row) => boolean,
): { readonly rows: readonly Row[]; readonly matches: number } {
  const kept = new Set<Row>()
  let count = 0
  for (const row of rows) {
    if (!matches(row)) continue
    count++
    for (let each: Row | undefined = row; each && !kept.has(each); each = each.parent) kept.add(each)
  }
  const left = rows.filter((row) => kept.has(row))
  let roots = 0
  for (const row of left) row.children = 0
  for (const row of left) row.position = row.parent ? ++row.parent.children : ++roots
  return { rows: left, matches: count }
}

/** Without the rows below a collapsed one. */
export function expandedRows(rows: readonly Row[], collapsed: ReadonlySet<NodeId>): readonly Row[] {
  if (collapsed.size === 0) return rows
  let hidden = Number.POSITIVE_INFINITY
  return rows.filter(({ id, level }) => {
    if (level > hidden) return false
    hidden = collapsed.has(id) ? level : Number.POSITIVE_INFINITY
    return true
  })
}

/** The row of a node; for a text, the row of its step. */
export const rowOf = (rows: readonly Row[], id: NodeId): Row | undefined =>
  rows.find((row) => row.id === id) ?? rows.find((row) => row.of.kind === 'step' && id.startsWith(`${row.id}.`))

export function ancestorsOf({ parent }: Row): readonly NodeId[] {
  return parent ? [parent.id, ...ancestorsOf(parent)] : []
}
