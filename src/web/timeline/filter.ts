import type { MarkStatus } from '../ui/status-mark.tsx'
import { aboutOf, nameOf } from './row-facts.ts'
import type { Row } from './rows.ts'

export interface Filter {
  readonly text: string
  /** Empty: all. */
  readonly agent: string
  readonly tool: string
  readonly status: '' | StatusGroup
}

export const noFilter: Filter = { text: '', agent: '', tool: '', status: '' }
export const isFiltering = (filter: Filter): boolean => Object.values(filter).some((value) => value.trim() !== '')

const groups = {
  failed: ['failed', 'declined', 'unknown'],
  running: ['running'],
  waiting: ['waiting', 'suspended'],
  completed: ['completed', 'partial', 'warning'],
  stopped: ['interrupted', 'skipped'],
} as const satisfies { readonly [group: string]: readonly MarkStatus[] }

type StatusGroup = keyof typeof groups
export const statusGroups = Object.keys(groups) as readonly StatusGroup[]

/** The agent that a row is about: of a call of an agent, that agent. */
const agentOf = ({ of }: Row): string => (of.kind === 'call' && of.call.isAgent ? of.call.name : of.agent.name)
const toolOf = ({ of }: Row): string | undefined =>
  of.kind === 'call' && !of.call.isAgent ? of.call.name : of.kind === 'request' ? nameOf(of).name : undefined

/** All parts of the filter must match; of the text, every word. */
export function matcher({ text, agent, tool, status }: Filter): (row: Row) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean)
  const statuses: readonly MarkStatus[] = status === '' ? [] : groups[status]
  return (row) => {
    if (agent !== '' && agentOf(row) !== agent) return false
    if (tool !== '' && toolOf(row) !== tool) return false
    const { name, problem = '', ...of } = nameOf(row.of)
    if (status !== '' && !statuses.includes(of.status)) return false
    if (words.length === 0) return true
    const reason = row.of.kind === 'call' ? `${row.of.call.reason} ${row.of.call.error?.message ?? ''}` : ''
    const shown = `${name} ${aboutOf(row.of)} ${problem} ${reason}`.toLowerCase()
    return words.every((word) => shown.includes(word))
  }
}

/** The names to choose from. */
export function choicesOf(rows: readonly Row[]): { readonly agents: readonly string[]; readonly tools: readonly string[] } {
  const agents = new Set(rows.map(agentOf))
  const tools = new Set(rows.flatMap((row) => toolOf(row) ?? []))
  return { agents: [...agents].toSorted(), tools: [...tools].toSorted() }
}
