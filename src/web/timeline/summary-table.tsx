import { addSpent } from '../../contracts/index.ts'
import { exactLine } from '../../util/exact-text.ts'
import {
  type AgentNode,
  type AgentSummary,
  type AttemptNode,
  childrenOf,
  duration,
  grouped,
  price,
  treeSummary,
  waitingText,
  workOf,
} from '../../view/index.ts'
import { TokenWords } from '../ui/token-words.tsx'
import type { TimelineState } from './timeline-state.ts'

interface Total {
  readonly key: string
  readonly name: string
  readonly level: number
  readonly calls: number
  readonly failed: number
  readonly latencyMs: number
  /** The part of it that was no work. */
  readonly waitedMs?: number
  readonly spent?: Pick<AgentSummary, 'usage' | 'cost'>
  /** The mean of the replies that were streamed. */
  readonly firstTokenMs?: number | undefined
}

/** Totals of agents, models and tools, while they grow. */
export function SummaryTable({ state }: { readonly state: TimelineState }) {
  const now = state.now.value
  const summaries = state.store.tree.roots.map((agent) => treeSummary(agent, now))
  const agents = summaries.flatMap((summary, i) => agentTotals(summary, 0, String(i)))
  const all = summaries.flatMap(withAgentsBelow)
  const models = merged(all.flatMap(({ models }) => models.map(({ model, ...rest }) => ({ name: model, ...rest, spent: rest }))))
  const firstTokens = Map.groupBy(streamedAttempts(state.store.tree.roots), ({ modelId }) => modelId)
  const tools = merged(all.flatMap(({ tools }) => tools.map(({ tool, ...rest }) => ({ name: tool, ...rest }))))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: a group of tables, not of controls
    <div class="timeline-summary" role="group" aria-label="Summary" tabIndex={0}>
      <Totals title="Agents" note="Tokens and cost include the agents below." rows={agents} />
      <Totals title="Models" rows={models.map((row) => ({ ...row, firstTokenMs: meanOf(firstTokens.get(row.name)) }))} />
      <Totals title="Tools" rows={tools} />
    </div>
  )
}

const streamedAttempts = (agents: readonly AgentNode[]): readonly AttemptNode[] =>
  agents.flatMap(({ turns }) =>
    turns.flatMap(({ steps }) =>
      steps.flatMap(({ attempts, calls }) => [
        ...attempts.filter(({ firstTokenMs }) => firstTokenMs !== undefined),
        ...streamedAttempts(calls.flatMap(childrenOf)),
      ]),
    ),
  )

const meanOf = (attempts: readonly AttemptNode[] | undefined): number | undefined =>
  attempts && attempts.reduce((sum, { firstTokenMs = 0 }) => sum + firstTokenMs, 0) / attempts.length

const agentTotals = (summary: AgentSummary, level: number, key: string): readonly Total[] => [
  { ...summary, key, name: summary.agent, level, spent: summary },
  ...summary.agents.flatMap((each) => agentTotals(each, level + 1, `${key}/${each.agent}`)),
]

const withAgentsBelow = (summary: AgentSummary): readonly AgentSummary[] => [summary, ...summary.agents.flatMap(withAgentsBelow)]

type Part = Omit<Total, 'key' | 'level'>

/** The same model or tool of several agents, slowest first. */
function merged(parts: readonly Part[]): readonly Total[] {
  const byName = Map.groupBy(parts, ({ name }) => name)
  return [...byName]
    .map(([name, same]) => ({ key: name, level: 0, ...same.reduce(addTotals) }))
    .toSorted((a, b) => b.latencyMs - a.latencyMs)
}

function addTotals(a: Part, b: Part): Part {
  const calls = a.calls + b.calls
  const sum = { name: a.name, calls, failed: a.failed + b.failed, latencyMs: a.latencyMs + b.latencyMs }
  return a.spent && b.spent ? { ...sum, spent: addSpent(a.spent, b.spent.usage, b.spent.cost) } : sum
}

function Totals({ title, note, rows }: { readonly title: string; readonly note?: string; readonly rows: readonly Total[] }) {
  if (rows.length === 0) return null
  const hasTokens = rows.some(({ spent }) => spent)
  const hasCost = rows.some(({ spent }) => spent && spent.cost !== 'unknown' && spent.cost > 0)
  /** A bar that compares a number with the largest of its column. */
  const share = (of: (row: Total) => number, row: Total): { readonly '--share': string } => ({
    '--share': `${(of(row) / Math.max(1, ...rows.map(of))) * 100}%`,
  })
  return (
    <table class="timeline-totals">
      <caption>
        {title} {note && rows.length > 1 && <span class="muted">{note}</span>}
      </caption>
      <thead>
        <tr>
          {['Name', 'Calls', 'Time', hasTokens && 'Tokens', hasCost && 'Cost'].map(
            (column) =>
              column && (
                <th key={column} scope="col">
                  {column}
                </th>
              ),
          )}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key}>
            <th scope="row" class="truncate" style={{ paddingLeft: `${indent(row.level)}px` }} title={exactLine(row.name)}>
              {exactLine(row.name.slice(0, 200))}
            </th>
            <td>
              {grouped(row.calls)}
              {row.failed > 0 && <div class="tone-error">{grouped(row.failed)} failed</div>}
            </td>
            <td class="timeline-share" style={share(workIn, row)}>
              {duration(workIn(row))}
              {row.firstTokenMs !== undefined && (
                <div class="tone-muted" title="Mean time to the first token">
                  first token {duration(row.firstTokenMs)}
                </div>
              )}
              {waitingText(row) !== '' && <div class="tone-muted">{waitingText(row)}</div>}
            </td>
            {hasTokens && (
              <td class="timeline-share timeline-tokens" style={share(tokensOf, row)}>
                {row.spent && <TokenWords usage={row.spent.usage} />}
              </td>
            )}
            {hasCost && <td>{row.spent && (row.spent.cost === 'unknown' ? 'unknown' : price(row.spent.cost) || '–')}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const workIn = ({ latencyMs, waitedMs = 0 }: Total): number => workOf({ durationMs: latencyMs, waitedMs })

/** Deep levels are indented less, so that names keep their room. */
const indent = (level: number): number => Math.min(level, 4) * 10 + Math.max(0, level - 4) * 2

const tokensOf = ({ spent }: Total): number => (spent ? spent.usage.input + spent.usage.output : 0)
