import type { ItemStatus, MaybePromise, Tool, ToolFailure, ToolOutput } from '../contracts/index.ts'
import type { StartedCall } from '../core/index.ts'
import { utf8Length } from '../util/fit-text.ts'
import { keepShape } from '../util/keep-shape.ts'
import { type ActiveSession, since } from './active-session.ts'
import { type RunResult, runTool } from './call-run.ts'
import { escalate, isWalledIn } from './escalate.ts'
import { afterCall } from './hooks.ts'
import { Lanes } from './lanes.ts'
import { fitted, type Shown } from './output.ts'

// The second half of the pipeline: gate → sandbox → execute with deadline and signal → escalate if allowed → hooks →
// redact and fit → account → record. Nothing runs before its intent is durable, and a call that waits for another
// also waits for that one's result to be durable: so a crash can tell what has not begun.

export function execute(session: ActiveSession, calls: readonly StartedCall[]): Promise<void> {
  const [only] = calls
  return only && calls.length === 1 ? runCall(session, only) : runTogether(session, calls)
}

async function runTogether(session: ActiveSession, calls: readonly StartedCall[]): Promise<void> {
  const most = session.state.agent.limits.parallelToolCalls
  const lanes = calls.length <= most && calls.every((call) => call.intent.lane.kind === 'shared') ? undefined : new Lanes(most)
  const running = calls.map((call) =>
    lanes
      ? lanes.run(call.intent.lane, () => runCall(session, call).catch((error: unknown) => stopAll(session, error)))
      : runCall(session, call),
  )
  try {
    await Promise.all(running)
  } catch (error) {
    // Only the journal fails here. Nothing can be recorded any more, so the others are told to stop, and waited for.
    session.interrupt.fire('interrupted')
    await Promise.allSettled(running)
    throw error
  }
}

/** Before its lane is free: a call that waits for one whose result could not be stored must not start. */
function stopAll(session: ActiveSession, error: unknown): never {
  session.interrupt.fire('interrupted')
  throw error
}

/** No async function: most calls need a single turn of the event loop, and there are very many calls. */
function runCall(session: ActiveSession, call: StartedCall): Promise<void> {
  try {
    const writing = session.flush()
    return writing ? writing.then(() => enter(session, call)) : enter(session, call)
  } catch (error) {
    return Promise.reject(error)
  }
}

function enter(session: ActiveSession, call: StartedCall): Promise<void> {
  const tool = session.toolOf(call.intent.tool)
  const refusal = session.interrupt.reason !== undefined ? notRun : tool ? undefined : gone(call.intent.tool)
  if (refusal || !tool) {
    // A further attempt that is not made leaves open what the first one did.
    const isUnknown = call.attempt > 1
    const status = session.interrupt.reason === undefined ? 'failed' : isUnknown ? 'unknown' : 'skipped'
    return Promise.resolve(
      end(session, call, {
        status,
        output: { ok: false, error: isUnknown && session.interrupt.reason !== undefined ? notRunAgain : (refusal ?? notRun) },
        latencyMs: 0,
      }),
    )
  }
  const started = session.clock.monotonic()
  return runTool(session, tool, call).then((result) => {
    const latencyMs = since(session.clock, started)
    if (session.ports.hooks.length > 0 || isWalledIn(session, result.output)) return finishSlowly(session, call, { tool, result, started })
    return end(session, call, { ...result, latencyMs })
  })
}

interface Finishing {
  readonly tool: Tool
  readonly result: RunResult
  readonly started: number
}

/** Where there are walls to get out of, or hooks to ask. */
async function finishSlowly(session: ActiveSession, call: StartedCall, { tool, result, started }: Finishing): Promise<void> {
  const mayLeave = isWalledIn(session, result.output) && (await escalate(session, call))
  const { status, output } = mayLeave
    ? await runTool(session, tool, { ...call, attempt: call.attempt + 1, walls: { kind: 'outside' } })
    : result
  const latencyMs = since(session.clock, started)
  await end(session, call, { status, output: await afterCall(session, call, output), latencyMs })
}

interface Ended {
  readonly status: ItemStatus
  readonly output: ToolOutput
  readonly latencyMs: number
}

function end(session: ActiveSession, call: StartedCall, ended: Ended): MaybePromise<void> {
  const shown = fitted(session, ended.output)
  if (shown instanceof Promise) return shown.then((fit) => record(session, call, { ...ended, shown: fit }))
  record(session, call, { ...ended, shown })
}

function record(session: ActiveSession, { intent, part }: StartedCall, ended: Ended & { readonly shown: Shown }): void {
  const { status, shown, latencyMs } = ended
  const { id, type } = intent
  const item = { kind: 'call', id, type, status, ...shown, latencyMs, bytesIn: utf8Length(part.input) } as const
  session.record({ ...session.here(), type: 'interaction.item.completed', itemId: id, item })
  if (item.bytesOut < 1_000) keepShape('ended', item, ended)
  // The last result goes with the next step; the others are committed as they come.
  if (session.turn.step.kind === 'calling') void session.flush()
}

const notRunAgain: ToolFailure = {
  class: 'cancelled',
  message: 'It was not run again: the turn was interrupted. Whether it ran before is not known.',
}
const notRun: ToolFailure = { class: 'cancelled', message: 'It was not run: the turn was interrupted before.' }
const gone = (tool: string): ToolFailure => ({ class: 'config', message: `The tool "${tool}" is no longer there.` })
