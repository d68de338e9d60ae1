import type { PlanModel } from 'chat'
import type { ProgressTask, TurnProgress } from 'troupe/extension'
import type { Content } from '../platform.ts'
import { actions, cut } from './request-card.ts'

const mostTasks = 25
const longestLine = 150

const titles = { working: 'Working…', waiting: 'Waiting for an answer', completed: 'Done', failed: 'Failed', stopped: 'Stopped' }
const statuses = {
  pending: 'pending',
  running: 'in_progress',
  waiting: 'in_progress',
  completed: 'complete',
  failed: 'error',
  stopped: 'error',
} as const

export const isEnded = ({ state }: TurnProgress): boolean => state !== 'working' && state !== 'waiting'

/** What the agents of a turn do, with buttons. `link`: of the conversation in the web chat. */
export function progressContent(progress: TurnProgress, link: string | undefined): Content {
  const tasks = progress.tasks.slice(-mostTasks)
  const plan: PlanModel = { title: titles[progress.state], tasks: tasks.map((task) => planTask(task, depthOf(task, tasks))) }
  return { plan, buttons: isEnded(progress) ? endButtons(link) : [button(actions.stop, 'Stop', 'danger'), ...linkButton(link)] }
}

/** Under an answer, or under what a turn did. */
export const endButtons = (link: string | undefined): NonNullable<Content['buttons']> => [
  button(actions.retry, 'Retry'),
  button(actions.details, 'Details'),
  button(actions.export, 'JSON'),
  ...linkButton(link),
]

const button = (id: string, label: string, style?: 'danger') => ({ type: 'button', id, label, ...(style && { style }) }) as const
const linkButton = (url: string | undefined) => (url === undefined ? [] : [{ type: 'link-button', label: 'Open', url } as const])

function planTask({ id, title, state, detail }: ProgressTask, depth: number): PlanModel['tasks'][number] {
  const hint = state === 'waiting' ? 'Waits for an answer' : state === 'stopped' ? 'Stopped' : undefined
  const details = [hint, detail].filter((each) => each).join(': ')
  const isOver = state === 'completed' || state === 'failed'
  return {
    id,
    title: cut(`${'› '.repeat(depth)}${title}`, longestLine),
    status: statuses[state],
    ...(details !== '' && { [isOver ? 'output' : 'details']: cut(details, longestLine) }),
  }
}

function depthOf({ parentId }: ProgressTask, tasks: readonly ProgressTask[]): number {
  const parent = parentId === undefined ? undefined : tasks.find(({ id }) => id === parentId)
  return parent ? depthOf(parent, tasks) + 1 : 0
}
