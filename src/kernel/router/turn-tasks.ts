import type { ProgressTask, SessionId, TurnProgress } from '../../contracts/index.ts'
import { oneLine } from '../../util/one-line.ts'
import { cutText } from '../../util/well-formed.ts'
import {
  type CallNode,
  childrenOf,
  isRunning,
  lastTurn,
  type RequestNode,
  type SessionNodes,
  type StepNode,
  shownStatus,
  type TurnNode,
  taskText,
} from '../../view/index.ts'

// The last turn of a session as a list of tasks: its calls and children, with the names of other views. Pure.

/** Maximum number of tasks of a turn. */
const mostTasks = 50
/** Maximum length of a title or a detail. */
const mostChars = 200

type State = ProgressTask['state']
interface Timed extends ProgressTask {
  readonly at: number
}

export function turnProgress(session: SessionNodes): TurnProgress | undefined {
  const turn = lastTurn(session)
  if (!turn) return undefined
  const ended = endOf(turn)
  const tasks = fewer(tasksOf(session).toSorted((one, other) => one.at - other.at)).map(({ at, ...task }): ProgressTask => {
    // What had not ended has ended with its turn.
    return ended && !isOver(task.state) ? { ...task, state: 'stopped' } : task
  })
  return { id: turn.id, state: ended ?? (waits(turn, tasks) ? 'waiting' : 'working'), tasks }
}

function endOf({ status }: TurnNode): 'completed' | 'failed' | 'stopped' | undefined {
  if (status === 'running' || status === 'suspended') return undefined
  if (status === 'failed') return 'failed'
  return status === 'interrupted' ? 'stopped' : 'completed'
}

const waits = (turn: TurnNode, tasks: readonly ProgressTask[]): boolean =>
  !isRunning(turn) || (tasks.some(({ state }) => state === 'waiting') && !tasks.some(({ state }) => state === 'running'))

const isOver = (state: State): boolean => state === 'completed' || state === 'failed' || state === 'stopped'

function tasksOf(session: SessionNodes, parentId?: string): readonly Timed[] {
  const below = parentId === undefined ? {} : { parentId }
  const steps = session.agent.turns.flatMap((turn) => turn.steps)
  return steps.flatMap((step) => [
    ...step.calls.flatMap((call) => [
      { ...callTask(call, step, session), ...below, at: call.readyAt },
      ...childrenOf(call).flatMap((child) => {
        const nodes = session.tree.sessions.get(child.id as SessionId)
        return nodes ? tasksOf(nodes, call.id) : []
      }),
    ]),
    ...requestTasks(session, step).map((task) => ({ ...task, ...below })),
  ])
}

/** A call that waits for approval has no node yet. It gets the same id. */
function requestTasks({ agent, calls }: SessionNodes, { requests }: StepNode): readonly Timed[] {
  return [...requests.values()]
    .filter(({ itemId }) => !calls.has(itemId))
    .map((request) => ({
      id: `${agent.id}/${request.itemId}`,
      title: shortLine(request.summary),
      state: 'waiting' as const,
      detail: waitText(request),
      at: request.at,
    }))
}

function callTask(call: CallNode, step: StepNode, { agent }: SessionNodes): ProgressTask {
  const state = callState(call)
  const request = [...step.requests.values()].find(({ itemId }) => call.id === `${agent.id}/${itemId}`)
  const detail = shortLine(detailOf(call, state, request))
  const title = [call.name, call.about || taskText(call.child ?? {})].filter((part) => part !== '').join(' · ')
  return { id: call.id, title: shortLine(title), state, ...(detail !== '' && { detail }) }
}

const callStates: { readonly [Status in CallNode['status']]: State } = {
  waiting: 'pending',
  running: 'running',
  completed: 'completed',
  failed: 'failed',
  declined: 'failed',
  unknown: 'failed',
  interrupted: 'stopped',
  skipped: 'stopped',
}

function callState(call: CallNode): State {
  const { status, child, isSpawned, isAsking, isInClient, sandbox, inQueue, speaks } = call
  const turn = child?.turns.at(-1)
  // The call of a spawned child ends before the child.
  if (turn && (status === 'running' || (isSpawned && status === 'completed'))) {
    const ended = endOf(turn)
    if (ended === undefined) return isRunning(turn) ? 'running' : 'waiting'
    if (speaks) return 'waiting'
    return isSpawned ? ended : 'running'
  }
  if (status === 'running' && inQueue === undefined && (isAsking || isInClient || sandbox.kind === 'asking')) return 'waiting'
  return callStates[shownStatus(call)]
}

function detailOf(call: CallNode, state: State, request: RequestNode | undefined): string {
  const { error, exitCode, inQueue, isInClient, status, progress, output, child } = call
  if (request) return waitText(request)
  if (inQueue) return `waits in the queue ${inQueue.queue}`
  if (isInClient) return 'waits for the client'
  if (error) return error.message
  if (status === 'declined') return 'denied'
  if (exitCode !== undefined && exitCode !== 0) return `exit code ${exitCode}`
  if (state === 'running') return progress ?? lastLine(output)
  const { ending, report } = child?.turns.at(-1) ?? {}
  return ending?.status === 'failed' ? ending.message : firstLine(report?.text)
}

const waitText = ({ scope }: RequestNode): string => (scope === 'question' ? 'waits for an answer' : 'waits for approval')
const firstLine = (text = ''): string => text.trimStart().split('\n', 1)[0] ?? ''
const lastLine = (text = ''): string => text.trimEnd().split('\n').at(-1) ?? ''

function shortLine(text: string): string {
  const line = oneLine(text)
  return line.length > mostChars ? `${cutText(line, mostChars - 1)}…` : line
}

/** Leaves out the oldest ones that have ended, each with what is below it; then the newest ones. */
function fewer(tasks: readonly Timed[]): readonly Timed[] {
  const left = new Set(tasks)
  const byParent = Map.groupBy(tasks, ({ parentId }) => parentId)
  const drop = (task: Timed): void => {
    left.delete(task)
    for (const below of byParent.get(task.id) ?? []) drop(below)
  }
  for (const task of tasks) {
    if (left.size <= mostTasks) break
    if (isOver(task.state)) drop(task)
  }
  return [...left].slice(0, mostTasks)
}
