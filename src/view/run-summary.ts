import {
  addSpent,
  type CallOperation,
  type Cost,
  type ModelEntry,
  noUsage,
  type Outcome,
  type TurnOperation,
  type Usage,
} from '../contracts/index.ts'

interface Counted {
  readonly calls: number
  /** How many of these failed. */
  readonly failed: number
  /** Sum over all calls, also of those that ran in parallel. */
  readonly latencyMs: number
}
export interface ModelSummary extends Counted {
  /** `provider/name`, as the model calls itself. */
  readonly model: string
  readonly usage: Usage
  readonly cost: Cost
}
export interface ToolSummary extends Counted {
  readonly tool: string
  readonly bytesIn: number
  readonly bytesOut: number
}
/** All calls of one agent by one parent. Tokens and cost include its descendants. */
export interface AgentSummary extends Counted {
  readonly agent: string
  readonly usage: Usage
  readonly cost: Cost
  /** Size of its inputs and reports; 0 for the root. */
  readonly bytesIn: number
  readonly bytesOut: number
  /** The part of `latencyMs` that was no work. */
  readonly waitedMs: number
  readonly models: readonly ModelSummary[]
  readonly tools: readonly ToolSummary[]
  readonly agents: readonly AgentSummary[]
}

/** Usage of each agent with its models, its tools and the agents that it called. */
export function runSummary({ operations, trace }: Pick<Outcome, 'operations' | 'trace'>): AgentSummary | undefined {
  return operations && summaryOf([operations], trace)
}

/** Over several turns of one session. */
export function summaryOf(turns: readonly TurnOperation[], { callPath }: Pick<Outcome['trace'], 'callPath'>): AgentSummary {
  const failed = turns.filter(({ status }) => status === 'failed').length
  const agent = callPath.split('/').at(-1) ?? ''
  return agentSummary({ agent, turns, calls: turns.length, failed, latencyMs: durationOf(turns), ...noBytes })
}

const noBytes = { bytesIn: 0, bytesOut: 0 }

interface Called extends Counted {
  readonly agent: string
  readonly turns: readonly TurnOperation[]
  readonly bytesIn: number
  readonly bytesOut: number
}

function agentSummary({ turns, ...called }: Called): AgentSummary {
  const steps = turns.flatMap((turn) => turn.steps)
  const calls = steps.flatMap((step) => step.calls)
  const models = grouped(
    steps.flatMap((step) => step.attempts),
    ({ model }) => model,
  ).map(([model, attempts]) => ({ model, ...counted(attempts), ...spentOn(attempts) }))
  const tools = grouped(
    calls.filter(({ child }) => !child),
    ({ tool }) => tool,
  ).map(([tool, those]) => ({ tool, ...counted(those), ...bytesOf(those) }))
  const agents = grouped(calls.filter(isChild), ({ child }) => nameIn(child.agentPath)).map(([agent, those]) =>
    agentSummary({ agent, turns: those.flatMap(turnsOf), ...counted(those), latencyMs: timeOf(those), ...bytesOf(those) }),
  )
  const waitedMs = turns.reduce((sum, turn) => sum + turn.waitedMs, 0)
  return { ...called, waitedMs, ...spentOn([...models, ...agents]), models, tools, agents }
}

const durationOf = (turns: readonly TurnOperation[]): number => turns.reduce((sum, { durationMs }) => sum + durationMs, 0)

const isChild = (call: CallOperation): call is ChildCall => call.child !== undefined

type ChildCall = CallOperation & { readonly child: TurnOperation }

const turnsOf = ({ child, earlier = [] }: ChildCall): readonly TurnOperation[] => [...earlier, child]

/** A spawned child works longer than the call that started it. */
const timeOf = (calls: readonly ChildCall[]): number =>
  calls.reduce((sum, call) => sum + Math.max(call.latencyMs, durationOf(turnsOf(call))), 0)

/** `root/researcher#2` → `researcher`. */
const nameIn = (agentPath: string): string => agentPath.slice(agentPath.lastIndexOf('/') + 1).replace(/#\d+$/, '')

function counted(entries: readonly Pick<ModelEntry | CallOperation, 'status' | 'latencyMs'>[]): Counted {
  return {
    calls: entries.length,
    failed: entries.filter(({ status }) => status !== 'completed' && status !== 'suspended').length,
    latencyMs: entries.reduce((sum, { latencyMs }) => sum + latencyMs, 0),
  }
}

function spentOn(those: readonly { readonly usage: Usage; readonly cost: Cost }[]): { readonly usage: Usage; readonly cost: Cost } {
  return those.reduce((sum, { usage, cost }) => addSpent(sum, usage, cost), { usage: noUsage, cost: 0 as Cost })
}

function bytesOf(calls: readonly CallOperation[]): { readonly bytesIn: number; readonly bytesOut: number } {
  return calls.reduce((sum, { bytesIn, bytesOut }) => ({ bytesIn: sum.bytesIn + bytesIn, bytesOut: sum.bytesOut + bytesOut }), noBytes)
}

function grouped<Entry>(entries: readonly Entry[], keyOf: (entry: Entry) => string): readonly (readonly [string, readonly Entry[]])[] {
  return [...Map.groupBy(entries, keyOf)]
}
