import type { Cost, TreeEntry, TreeFilter } from '../../contracts/index.ts'

/** In any case, also beyond ASCII. */
export const titleContains = (title: string, text: string): boolean => title.toLowerCase().includes(text.toLowerCase())

export function statusesOf({ status }: TreeFilter): readonly TreeEntry['status'][] | undefined {
  return typeof status === 'string' ? [status] : status
}

export function matchesFilter(entry: TreeEntry, filter: TreeFilter): boolean {
  const { owner, agent, labels = [], workspace, text, hasOpenRequests, before = Number.POSITIVE_INFINITY } = filter
  const { since = Number.NEGATIVE_INFINITY, until = Number.POSITIVE_INFINITY } = filter
  return (
    entry.createdAt < before &&
    (owner === undefined || entry.owner === owner) &&
    (agent === undefined || entry.agent === agent) &&
    (workspace === undefined || entry.workspace === workspace) &&
    (hasOpenRequests === undefined || entry.openRequests > 0 === hasOpenRequests) &&
    (statusesOf(filter)?.includes(entry.status) ?? true) &&
    labels.every((label) => entry.labels?.includes(label)) &&
    (text === undefined || titleContains(entry.title, text)) &&
    entry.updatedAt >= since &&
    entry.createdAt < until &&
    hasCost(entry.cost, filter)
  )
}

function hasCost(cost: Cost | undefined, { minCostUsd, maxCostUsd }: TreeFilter): boolean {
  if (minCostUsd === undefined && maxCostUsd === undefined) return true
  return typeof cost === 'number' && cost >= (minCostUsd ?? cost) && cost <= (maxCostUsd ?? cost)
}
