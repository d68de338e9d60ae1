import type { ItemStatus, MaybePromise, ToolFailure, ToolOutput } from '../contracts/index.ts'
import type { StartedCall } from '../core/index.ts'
import { utf8Length } from '../util/fit-text.ts'
import { type ActiveSession, since } from './active-session.ts'
import { runTool } from './call-run.ts'
import { escalate, isWalledIn } from './escalate.ts'
import { afterCall } from './hooks.ts'
import { Lanes } from './lanes.ts'
import { fitted, type Shown } from './output.ts'

// The second half of the pipeline: gate → sandbox → execute with deadline and signal → escalate if allowed → hooks →
// redact and fit → account → record. Nothing runs before its intent is durable, and a call that waits for another
// also waits for that one's result to be durable: so a crash can tell what has not begun.

export async function execute(session: ActiveSession, calls: readonly StartedCall[]): Promise<void> {
  const [only] = calls
  if (only && calls.length === 1) return runCall(session, only)
  const lanes = new Lanes(session.state.agent.limits.parallelToolCalls)
  let failure: { readonly error: unknown } | undefined
  const runAndTell = (call: StartedCall) =>
    runCall(session, call).catch((error: unknown) => {
      // Only the journal fails here. Nothing can be recorded any more, so the siblings are told to stop, and waited for.
      failure ??= { error }
      session.interrupt.fire('interrupted')
    })
  await Promise.all(calls.map((call) => lanes.run(call.intent.lane, () => runAndTell(call))))
  if (failure) throw failure.error
}

async function runCall(session: ActiveSession, call: StartedCall): Promise<void> {
  const writing = session.flush()
  if (writing) await writing
  const { intent } = call
  const tool = session.toolOf(intent.tool)
  if (session.interrupt.reason !== undefined) return end(session, call, { status: 'skipped', output: refused(notRun), latencyMs: 0 })
  if (!tool) return end(session, call, { status: 'failed', output: refused(gone(intent.tool)), latencyMs: 0 })

  const started = session.clock.monotonic()
  let { status, output } = await runTool(session, tool, call)
  if (isWalledIn(session, output) && (await escalate(session, call))) {
    ;({ status, output } = await runTool(session, tool, { ...call, attempt: call.attempt + 1, walls: { kind: 'outside' } }))
  }
  const latencyMs = since(session.clock, started)
  if (session.ports.hooks.length > 0) output = await afterCall(session, call, output)
  const ending = end(session, call, { status, output, latencyMs })
  if (ending) await ending
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

function record(
  session: ActiveSession,
  { intent, part }: StartedCall,
  { status, shown, latencyMs }: Ended & { readonly shown: Shown },
): void {
  const { id, type } = intent
  const item = { kind: 'call', id, type, status, ...shown, latencyMs, bytesIn: utf8Length(part.input) } as const
  session.record({ ...session.here(), type: 'interaction.item.completed', itemId: id, item })
  // The last result goes with the next step; the others are committed as they come.
  if (session.turn.step.kind === 'calling') void session.flush()
}

const refused = (error: ToolFailure): ToolOutput => ({ ok: false, error })
const notRun: ToolFailure = { class: 'cancelled', message: 'It was not run: the turn was interrupted before.' }
const gone = (tool: string): ToolFailure => ({ class: 'config', message: `The tool "${tool}" is no longer there.` })
