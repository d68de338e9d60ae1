import { homedir } from 'node:os'
import { type Outcome, type Store, TroupeError } from '../contracts/index.ts'
import { createAgentRuntime, systemClock } from '../runtime/index.ts'
import { dataFolder } from './data-folder.ts'
import { exitCodeOf, exitCodes } from './exit-codes.ts'
import { type Followed, followRun } from './follow-run.ts'
import type { Host } from './host.ts'
import { type LoadedAgent, loadAgent, together } from './load-agent.ts'
import type { RunInvocation } from './parse-arguments.ts'
import { errorDocument, errorLines } from './print-errors.ts'
import { readPrompt } from './read-prompt.ts'
import { renderTree } from './render-tree.ts'

/** `troupe run`: everything is checked before anything is started. */
export async function runCommand(invocation: RunInvocation, host: Host): Promise<number> {
  const { loaded, prompt } = await prepare(invocation, host)
  const store = await openStore(dataFolder({ flag: invocation.dataDir, env: host.env, home: homedir() }))
  const runtime = createAgentRuntime({ config: { agents: [loaded.agent] }, adapter: loaded.adapter, store, clock: systemClock })
  const handle = runtime.stream(prompt)
  const isStreaming = invocation.output === 'stream-json'
  // Who reads events and leaves has seen enough.
  if (isStreaming) host.stdout.onEnd(() => void handle.interrupt().catch(() => {}))
  const followed = await followRun(handle, {
    host,
    isQuiet: invocation.quiet,
    ...(isStreaming && { onEvent: (event) => host.stdout.line(JSON.stringify(event)) }),
  })
  const code = await report(followed, invocation, host)
  // A run that did not heed its interrupt would keep these from closing, too; whoever comes next finds its owner gone.
  if (followed.outcome) {
    await runtime.close()
    await store.close()
  }
  return code
}

/** A data folder that cannot be used is a matter of how the command was called. */
async function openStore(path: string): Promise<Store> {
  const { sqliteStore } = await import('../stores/sqlite/index.ts')
  try {
    return sqliteStore({ path })
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error
    throw new TroupeError('config_invalid', error.message, { remedy: error.remedy ?? 'Name another folder with --data-dir.', cause: error })
  }
}

interface Prepared {
  readonly loaded: LoadedAgent
  readonly prompt: string
}

/** Where the agent is wrong, nobody should have to wait for a pipe to hear of it. */
const shortPatienceMs = 100

async function prepare({ file, prompt: argument }: RunInvocation, { stdin, stderr }: Host): Promise<Prepared> {
  const notice = (text: string): void => void stderr.line(text)
  try {
    const loaded = await loadAgent(file, systemClock)
    return { loaded, prompt: await readPrompt({ argument, stdin, notice }) }
  } catch (error) {
    if (!(error instanceof TroupeError) || error.code === 'usage' || argument === '-') throw error
    const more = await readPrompt({ argument, stdin, notice: () => {}, patienceMs: shortPatienceMs }).then(
      () => [],
      (other: unknown) => (other instanceof TroupeError ? [other] : []),
    )
    throw together([error, ...more])
  }
}

async function report({ events, outcome }: Followed, { output, quiet }: RunInvocation, host: Host): Promise<number> {
  if (!outcome) {
    const error = new TroupeError('internal', 'The run did not end in time after it was interrupted.', {
      remedy: 'What was recorded until then is kept.',
    })
    if (output === 'json') await host.stdout.line(JSON.stringify({ ...errorDocument(error), exitCode: exitCodes.interrupted.code }))
    await host.stderr.lines(errorLines(error, host.paint))
    return exitCodes.interrupted.code
  }
  const exitCode = exitCodeOf(outcome)
  if (!quiet) await host.stderr.lines(['', ...renderTree(events, host), ''])
  if (outcome.status === 'failed' || outcome.status === 'suspended') await host.stderr.lines(failureLines(outcome, host))
  if (output === 'json') await host.stdout.line(JSON.stringify({ ...outcome, exitCode }))
  else if (output === 'answer' && isAnswer(outcome)) await host.stdout.line(outcome.report?.text ?? '')
  return exitCode
}

const isAnswer = ({ status }: Outcome): boolean => status === 'completed' || status === 'partial'

function failureLines({ message, remedy, failure, status }: Outcome, { paint }: Host): readonly string[] {
  const advice = remedy ?? failure?.remedy
  return errorLines({ message: message ?? failure?.message ?? status, remedy: advice, problems: [] }, paint)
}
