import { type AgentLimits, type LimitSpec, limitNames, limitTable, noUsage, type Spent } from '../../../contracts/index.ts'
import { showDuration, showSize } from '../../../util/parse-units.ts'
import { price, spentByTurns, tokens, turnTimes, workOf } from '../../../view/index.ts'
import { modelText } from '../../progress/tree/model-text.ts'
import type { Conversation } from './conversation.ts'

// Model, tokens, cost and budget of a conversation, for the status line and the commands about them.

type Figures = Pick<Conversation, 'agent' | 'model' | 'tree' | 'turn'>

const nothing: Spent = { usage: noUsage, cost: 0 }

/** Of all turns, with children. */
export const spentIn = ({ tree }: Pick<Conversation, 'tree'>): Spent => {
  const [root] = tree.roots
  return root ? spentByTurns(root.turns) : nothing
}

/** The model of a running turn, else the chosen one, else the one that answered last, else the first of the agent. */
export function modelOf({ agent, model, turn }: Figures): string {
  const last = turn?.steps.at(-1)?.attempts.at(-1)?.modelId
  const known = turn?.status === 'running' ? (last ?? model) : (model ?? last)
  return modelText(known ?? agent.models[0] ?? 'no model')
}

/** `$0.46 left`: of the limit that the turn reaches first, if there is one on cost or tokens. Empty without limits. */
export function budgetLeft({ agent: { limits }, turn }: Figures): string {
  const { usage, cost } = turn ? spentByTurns([turn]) : nothing
  if (limits.maxCostUsd !== undefined && cost !== 'unknown') return `${price(Math.max(0, limits.maxCostUsd - cost)) || '$0'} left`
  if (limits.maxTokens === undefined) return ''
  return `${Math.max(0, limits.maxTokens - usage.input - usage.output).toLocaleString('en')} tokens left`
}

/** Parts of the status line, the most important first. */
export function statusParts(figures: Figures): readonly string[] {
  const { usage, cost } = spentIn(figures)
  const left = budgetLeft(figures)
  return [modelOf(figures), usage.input + usage.output > 0 ? `${tokens(usage)} tokens` : '', price(cost), left].filter(
    (part) => part !== '',
  )
}

/** The limits of the agent, and what the last turn has used. */
export function budgetRows({ agent: { limits }, turn }: Figures, now: number): readonly (readonly [string, string])[] {
  const { usage, cost } = turn ? spentByTurns([turn]) : nothing
  const used: { readonly [Name in keyof AgentLimits]?: string } = {
    maxToolTurns: String(turn?.steps.length ?? 0),
    maxTokens: (usage.input + usage.output).toLocaleString('en'),
    maxCostUsd: price(cost) || '$0',
    maxCalls: String(turn?.steps.reduce((sum, { calls }) => sum + calls.length, 0) ?? 0),
    timeBudget: turn ? showDuration(Math.round(workOf(turnTimes(turn, now)) / 1000) * 1000) : '0 s',
  }
  return limitNames.flatMap((name) => {
    const [limit, spent] = [limits[name], used[name]]
    if (limit === undefined || spent === undefined) return []
    const { kind, label }: LimitSpec = limitTable[name]
    const shown =
      kind === 'duration'
        ? showDuration(limit)
        : kind === 'size'
          ? showSize(limit)
          : name === 'maxCostUsd'
            ? `$${limit}`
            : limit.toLocaleString('en')
    return [[label, `${spent} of ${shown}`] as const]
  })
}
