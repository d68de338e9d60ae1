import type { InteractionEvent } from '../../../contracts/index.ts'
import {
  type AgentSummary,
  duration,
  type ModelSummary,
  price,
  size,
  type ToolSummary,
  tokens,
  waitingTime,
  workOf,
} from '../../../view/index.ts'
import type { Paint } from '../../terminal/paint.ts'
import { printable } from '../../terminal/printable.ts'
import { fitWidth, widthOf } from '../../terminal/text-width.ts'
import { modelText } from './model-text.ts'
import { withStems } from './tree-row.ts'

interface Entry {
  readonly kind: 'agent' | 'model' | 'tool'
  readonly name: string
  readonly figures: readonly string[]
  readonly children: readonly Entry[]
}

/** In a narrow terminal the last columns are omitted. */
const columns = ['calls', 'time', 'waiting', 'tokens', 'cost', 'bytes'] as const
const gap = '  '
const minNameWidth = 24

/** Usage as a table of nested rows: agent → models, tools, agents. */
export function renderSummary(
  summary: AgentSummary,
  { paint, width }: { readonly paint: Paint; readonly width: number },
): readonly string[] {
  const rows = withStems(agentEntry(summary)).map(({ node, stem }) => ({ ...node, before: `${stem}${node.kind}` }))
  const widths = columns.map((column, i) =>
    widthOfColumn(
      column,
      rows.map(({ figures }) => figures[i] ?? ''),
    ),
  )
  const wanted = Math.max(...rows.map(({ before, name }) => widthOf(`${before} ${name}`)))
  // Some terminals wrap a line that fills the last column.
  const shown = columnsWithin(widths, width - 1 - Math.min(wanted, minNameWidth))
  const figuresWidth = shown.reduce((sum, each) => sum + taken(each), 0)
  const room = Math.max(0, Math.min(wanted, width - 1 - figuresWidth))
  const cells = (texts: readonly string[]): string =>
    shown
      .map((columnWidth, i) => (columnWidth === 0 ? '' : `${gap}${' '.repeat(columnWidth - widthOf(texts[i] ?? ''))}${texts[i] ?? ''}`))
      .join('')
  const lines = rows.map(({ before, name, kind, figures }) => {
    const label = fitWidth(`${before} ${name}`, room)
    const rest = label.slice(before.length)
    return `${paint('dim', label.slice(0, before.length))}${kind === 'agent' ? paint('bold', rest) : rest}${cells(figures)}`.trimEnd()
  })
  return [paint('dim', `${fitWidth('', room)}${cells(columns)}`), ...lines]
}

/** An empty column has no width. */
function widthOfColumn(column: string, texts: readonly string[]): number {
  const widest = Math.max(...texts.map(widthOf))
  return widest === 0 ? 0 : Math.max(column.length, widest)
}

function columnsWithin(widths: readonly number[], room: number): readonly number[] {
  let used = 0
  const tooMany = widths.findIndex((each) => {
    used += taken(each)
    return used > room
  })
  return tooMany === -1 ? widths : widths.slice(0, tooMany)
}

const taken = (width: number): number => (width === 0 ? 0 : gap.length + width)

function agentEntry(summary: AgentSummary): Entry {
  const { agent, models, tools, agents } = summary
  return {
    kind: 'agent',
    name: printable(agent),
    figures: [...countFigures(summary), ...spentFigures(summary), bytesFigure(summary)],
    children: [...models.map(modelEntry), ...tools.map(toolEntry), ...agents.map(agentEntry)],
  }
}

function modelEntry(summary: ModelSummary): Entry {
  return { kind: 'model', name: modelText(summary.model), figures: [...countFigures(summary), ...spentFigures(summary)], children: [] }
}

function toolEntry(summary: ToolSummary): Entry {
  return { kind: 'tool', name: printable(summary.tool), figures: [...countFigures(summary), '', '', bytesFigure(summary)], children: [] }
}

type Counted = Pick<ToolSummary, 'calls' | 'failed' | 'latencyMs'> & Partial<Pick<AgentSummary, 'waitedMs'>>

function countFigures({ calls, failed, latencyMs, waitedMs = 0 }: Counted): readonly string[] {
  const work = duration(workOf({ durationMs: latencyMs, waitedMs }))
  return [failed > 0 ? `${failed} of ${calls} failed` : String(calls), work, waitingTime(waitedMs)]
}

const spentFigures = ({ usage, cost }: Pick<ModelSummary, 'usage' | 'cost'>): readonly string[] => [
  tokens(usage),
  cost === 'unknown' ? 'unknown' : price(cost),
]

const bytesFigure = ({ bytesIn, bytesOut }: Pick<ToolSummary, 'bytesIn' | 'bytesOut'>): string =>
  bytesIn + bytesOut === 0 ? '' : `${size(bytesIn)} → ${size(bytesOut)}`

/** The summary with tool names, which people know, instead of agent names. */
export function withToolNames(summary: AgentSummary, events: readonly InteractionEvent[]): AgentSummary {
  const names = new Map(
    events.flatMap((event) => (event.type === 'interaction.session.created' ? [[event.agent.name, event.agent.toolName] as const] : [])),
  )
  const named = (each: AgentSummary): AgentSummary => ({
    ...each,
    agent: names.get(each.agent) ?? each.agent,
    agents: each.agents.map(named),
  })
  return named(summary)
}
