import { useEffect, useState } from 'preact/hooks'
import type { Cost } from '../../contracts/index.ts'
import { textOfParts } from '../../util/text-of-parts.ts'
import { type AgentNode, type CallNode, elapsed, totalLine, treeSummary } from '../../view/index.ts'
import { pullPlug } from '../state/actions.ts'
import { recordedModel } from '../state/connect-model.ts'
import { hashOf } from '../state/hash-route.ts'
import { usePage } from '../state/page.ts'
import type { SessionStore } from '../state/session-store.ts'
import { showModelRequest } from '../timeline/timeline-state.ts'
import { Icon } from '../ui/icon.tsx'
import { type DemoFlow, demoFlows, flowOf, nearestFlows } from './demo-flows.ts'
import { FlowCards, InitLine } from './demo-start.tsx'

/** What the demonstration adds to a session: the plug, and what to do next. */
export function DemoStrip({ store }: { readonly store: SessionStore }) {
  const page = usePage()
  void store.frame.value
  const { demo } = page.status.value ?? {}
  const { root } = store
  const turn = root?.turns.at(-1)
  if (demo?.model !== recordedModel || !root || !turn || store.state.value !== 'ready') return null
  const message = messageOf(root)
  const flow = flowOf(message)
  const isOver = turn.ending !== undefined
  return (
    <section class="demo-strip" aria-label="Demonstration">
      {flow?.id === 'plug' && <Plug store={store} isOver={isOver} processId={demo.processId} />}
      {!isOver && flow?.id === 'budget' && <Budget spent={treeSummary(root, store.now()).cost} />}
      {isOver && (flow ? <Closing store={store} root={root} flow={flow} /> : <OwnWords message={message} agent={root.name} />)}
    </section>
  )
}

function messageOf({ turns, messages }: AgentNode): string {
  const inputs = turns.at(-1)?.inputs ?? []
  const parts = messages.find(({ id }) => inputs.includes(id))?.parts ?? messages.at(-1)?.parts ?? []
  return textOfParts(parts, '')
}

interface Pull {
  /** The process of the server that was killed. */
  readonly processId: number
  /** Calls that had ended. */
  readonly finished: readonly CallNode[]
  readonly at: number
}

interface PlugProps {
  readonly store: SessionStore
  readonly isOver: boolean
  readonly processId: number
}

/** Kills the server as often as a person likes. */
function Plug({ store, isOver, processId }: PlugProps) {
  const page = usePage()
  const [pulls, setPulls] = useState<readonly Pull[]>([])
  const last = pulls.at(-1)
  const isBack = page.connection.value.kind === 'open' && processId !== last?.processId
  const [goneMs, setGoneMs] = useState(0)
  useEffect(() => {
    if (last && isBack) setGoneMs(performance.now() - last.at)
  }, [last, isBack])
  const pull = (): void => {
    setGoneMs(0)
    setPulls([...pulls, { processId, finished: finishedCalls(store), at: performance.now() }])
    void pullPlug(page)
  }
  if (isOver && !last) return null
  return (
    <div class="demo-plug">
      <div class="line">
        <span class="grow" role="status">
          {!last && `Server process ${processId} does the work.`}
          {last && !isBack && `Process ${last.processId} was killed with SIGKILL. Another one starts.`}
          {last &&
            isBack &&
            goneMs > 0 &&
            `Process ${last.processId} was killed. ${elapsed(goneMs)} later, process ${processId} continue${isOver ? 'd' : 's'} the session.`}
        </span>
        {!isOver && (
          <button type="button" class="button button-danger" disabled={last && !isBack} onClick={pull}>
            <Icon name="stop" /> {last ? 'Pull it again' : 'Pull the plug'}
          </button>
        )}
      </div>
      {last && last.finished.length > 0 && (
        <ul class="demo-finished plain-list" aria-label="Finished before">
          {last.finished.map(({ id, name, about }) => (
            <li key={id} class="chip" title={about}>
              <Icon name="check" /> {name} {about.split('/').at(-1)} <span class="muted">not run again</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

const finishedCalls = ({ tree }: SessionStore): readonly CallNode[] =>
  [...tree.sessions.values()]
    .flatMap(({ agent }) => agent.turns.flatMap(({ steps }) => steps.flatMap(({ calls }) => calls)))
    .filter(({ isAgent, status }) => !isAgent && status === 'completed')

/** What all agents of the run have spent together. */
function Budget({ spent }: { readonly spent: Cost }) {
  const cents = spent === 'unknown' ? 0 : spent * 100
  return (
    <label class="demo-plug demo-budget">
      <span>{cents.toFixed(1)} of 5 cents are spent by all agents together.</span>
      <progress max={5} value={cents} />
    </label>
  )
}

interface ClosingProps {
  readonly store: SessionStore
  readonly root: AgentNode
  readonly flow: DemoFlow
}

function Closing({ store, root, flow }: ClosingProps) {
  const page = usePage()
  const summary = treeSummary(root, store.now())
  const firstStep = root.turns.at(-1)?.steps[0]
  const [children] = summary.agents
  return (
    <div class="demo-closing">
      <p>
        <strong>{totalLine(summary, flow.id === 'plug' ? 'waiting' : 'waiting for you')}</strong>
        {flow.id === 'budget' && children && `, ${children.failed} of ${children.calls} refused by the budget`}.{' '}
        {firstStep && (
          <button type="button" class="link-button" onClick={() => showModelRequest(page, store, firstStep.id)}>
            See what the model saw
          </button>
        )}
      </p>
      <p class="muted">
        {flow.id === 'budget' ? <a href={hashOf({ view: 'agents', agent: flow.agent })}>{flow.hint}</a> : flow.hint} The prices are
        recorded, too.
      </p>
      <FlowCards flows={demoFlows.filter(({ id }) => id !== flow.id)} isSmall />
      <InitLine />
    </div>
  )
}

/** A recorded answer to another message would be wrong. */
function OwnWords({ message, agent }: { readonly message: string; readonly agent: string }) {
  const { connect } = usePage().status.value ?? {}
  if (isSample(message)) return null
  return (
    <div class="demo-closing">
      <p>
        Demo mode cannot answer that. {connect ? <a href={hashOf({ view: 'connect' })}>Connect a model</a> : 'Connect a model'} (paste a key
        or use Ollama), or try one of these instead of <strong>{agent}</strong>:
      </p>
      <FlowCards flows={nearestFlows(message)} isSmall />
    </div>
  )
}

/** Sessions that the demonstration has when it starts. */
const isSample = (message: string): boolean => ['Which discount codes are there?', 'Do the cart tests pass?'].includes(message.trim())
