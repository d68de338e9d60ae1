import { type CallOperation, type ModelEntry, noUsage, type TurnOperation } from '../contracts/index.ts'
import { type AgentNode, type AttemptNode, type CallNode, childrenOf, type StepNode, type TurnNode } from './nodes.ts'
import { type AgentSummary, summaryOf } from './run-summary.ts'
import { turnTimes } from './waiting.ts'

/** The summary of an agent as far as it is known: the same as `runSummary`, also while it runs. */
export const treeSummary = (agent: AgentNode, now: number): AgentSummary =>
  summaryOf(
    agent.turns.map((turn) => turnOperation(agent, turn, now)),
    { callPath: agent.name },
  )

function turnOperation({ path: agentPath }: AgentNode, turn: TurnNode, now: number): TurnOperation {
  const { status } = turn
  return {
    kind: 'turn',
    agentPath,
    turnId: turn.id as TurnOperation['turnId'],
    status: status === 'running' ? 'interrupted' : status,
    ...turnTimes(turn, now),
    steps: turn.steps.map((step) => {
      const place = { agentPath, stepId: step.id as TurnOperation['steps'][number]['stepId'] }
      return {
        kind: 'step',
        stepId: place.stepId,
        attempts: step.attempts.filter(({ latencyMs }) => latencyMs !== undefined).map((attempt) => modelEntry(attempt, place)),
        calls: calledOf(step).map((call) => callOperation(call, place, now)),
      }
    }),
  }
}

type Place = Pick<CallOperation, 'agentPath' | 'stepId'>

function modelEntry({ number, modelId, failure, usage = noUsage, cost = 0, latencyMs = 0 }: AttemptNode, place: Place): ModelEntry {
  return { kind: 'model', ...place, attempt: number, model: modelId, status: failure ? 'failed' : 'completed', usage, cost, latencyMs }
}

/** Calls with figures. If a call has not ended, only an agent has some. */
const calledOf = ({ calls }: StepNode): readonly CallNode[] => calls.filter(({ latencyMs, child }) => latencyMs !== undefined || child)

function callOperation(call: CallNode, place: Place, now: number): CallOperation {
  const { tool, latencyMs, bytesIn = 0, bytesOut = 0, status, span } = call
  const turns = childrenOf(call).flatMap((agent) => agent.turns.map((turn) => turnOperation(agent, turn, now)))
  const last = turns.at(-1)
  return {
    kind: 'call',
    ...place,
    itemId: call.id as CallOperation['itemId'],
    ...{ tool, namespace: '', title: '', bytesIn, bytesOut },
    status: status === 'running' || status === 'waiting' ? 'suspended' : status,
    latencyMs: latencyMs ?? Math.max(0, now - span.from),
    ...(last && { child: last }),
    ...(turns.length > 1 && { earlier: turns.slice(0, -1) }),
  }
}
