// For a tree that is followed for long: what has ended is forgotten, so that its size is bounded.
import type { SessionId } from '../contracts/index.ts'
import { childrenOf, type RunTree, type SessionNodes, type StepNode, type TurnNode } from './nodes.ts'

/** Forgets the turns of a root and all sessions below it, before its next turn begins. */
export function forgetTurns({ sessions, roots }: RunTree, { agent }: SessionNodes): void {
  agent.turns.splice(0)
  agent.notes.splice(0)
  for (const id of [...sessions.keys()]) if (id !== agent.id) sessions.delete(id)
  roots.splice(0, roots.length, agent)
}

interface EndedStep {
  readonly session: SessionNodes
  readonly turn: TurnNode
  readonly step: StepNode
}

/** Forgets the oldest steps whose calls and children have ended, until about `most` calls are left. The last step of a turn is kept. */
export function forgetEnded(tree: RunTree, most: number): void {
  let count = 0
  const ended: EndedStep[] = []
  for (const session of tree.sessions.values())
    for (const turn of session.agent.turns)
      for (const step of turn.steps) {
        count += step.calls.length
        if (step !== turn.steps.at(-1) && hasEnded(step)) ended.push({ session, turn, step })
      }
  ended.sort((one, other) => startOf(one.step) - startOf(other.step))
  for (const each of ended) {
    if (count <= most) return
    // It may have gone with the step above it.
    if (tree.sessions.get(each.session.agent.id as SessionId) === each.session) count -= forgetStep(tree, each)
  }
}

/** How many calls it had, with those of its children. */
function forgetStep(tree: RunTree, { session, turn, step }: EndedStep): number {
  turn.steps.splice(turn.steps.indexOf(step), 1)
  for (const [id, each] of session.steps) if (each === step) session.steps.delete(id)
  for (const [id, call] of session.calls) if (step.calls.includes(call)) session.calls.delete(id)
  return step.calls.reduce((sum, call) => sum + 1 + childrenOf(call).reduce((below, { id }) => below + forgetSession(tree, id), 0), 0)
}

function forgetSession(tree: RunTree, id: string): number {
  const session = tree.sessions.get(id as SessionId)
  if (!session) return 0
  tree.sessions.delete(id as SessionId)
  const calls = session.agent.turns.flatMap(({ steps }) => steps.flatMap((step) => step.calls))
  return calls.reduce((sum, call) => sum + 1 + childrenOf(call).reduce((below, child) => below + forgetSession(tree, child.id), 0), 0)
}

const hasEnded = ({ open, requests, calls }: StepNode): boolean =>
  open.size === 0 && requests.size === 0 && calls.every((call) => !call.speaks && childrenOf(call).every((child) => !isOpen(child)))

function isOpen({ turns }: { readonly turns: readonly TurnNode[] }): boolean {
  const turn = turns.at(-1)
  return turn?.status === 'running' || turn?.status === 'suspended'
}

const startOf = ({ attempts, calls }: StepNode): number => attempts[0]?.span.from ?? calls[0]?.readyAt ?? 0
