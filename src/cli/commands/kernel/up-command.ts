import { fileURLToPath } from 'node:url'
import { type Clock, TroupeError } from '../../../contracts/index.ts'
import { Supervisor, type SupervisorEnd, setupVariable } from '../../../kernel/supervisor/index.ts'
import { dataFolderProblem, packageFile } from '../../../project/index.ts'
import type { UpInvocation } from '../../arguments/serve-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { Interruption } from '../../terminal/interruption.ts'
import { printNotice, withColour } from '../../terminal/print-messages.ts'
import type { Host } from '../../terminal/process-host.ts'
import { displayOf } from '../serve/serve-log.ts'
import { isInForeground, passJobControl } from './job-control.ts'
import { supervisorPlace } from './supervisor-place.ts'

/** The runtime is not loaded: the process that needs it is another one. */
const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}

/** `troupe up`: the supervisor, or the kernel process that it has started with the same command line. */
export async function upCommand(invocation: UpInvocation, argv: readonly string[], host: Host): Promise<number> {
  const setup = host.env[setupVariable]
  if (setup === undefined || process.send === undefined) return superviseKernel(invocation, argv, host)
  // Programs that the kernel starts are no kernels.
  delete process.env[setupVariable]
  const { runKernel } = await import('./run-kernel.ts')
  return runKernel(invocation, JSON.parse(setup), host)
}

async function superviseKernel({ serve }: UpInvocation, argv: readonly string[], given: Host): Promise<number> {
  const display = displayOf(serve, given)
  const host = withColour(given, display)
  const place = supervisorPlace(serve.dataDir, host)
  const unwritable = dataFolderProblem(place)
  if (unwritable) throw new TroupeError('config_invalid', 'The data folder cannot be used.', { problems: [unwritable] })
  const isInteractive = host.stdin.isTTY === true && isInForeground()
  const supervisor = new Supervisor({
    command: {
      file: process.execPath,
      args: [fileURLToPath(packageFile('bin/troupe.mjs')), ...argv],
      env: host.env,
      // In the background, the shell reads the terminal.
      readsInput: isInteractive || host.stdin.isTTY !== true,
    },
    folder: place,
    clock,
    report: (text) => void printNotice(text, { host, display }),
  })
  const interruption = new Interruption({
    onInterrupt: (listener) => host.onInterrupt(listener),
    exit(code) {
      supervisor.kill()
      return host.exit(code)
    },
  })
  if (isInteractive) passJobControl(supervisor)
  const end = await supervisor.run(interruption.signal)
  return interruption.request === undefined ? exitCodeOfEnd(end) : exitCodes[interruption.request].code
}

function exitCodeOfEnd(end: SupervisorEnd): number {
  switch (end.kind) {
    case 'stopped':
      return exitCodes.done.code
    case 'refused':
      return end.code
    case 'gave_up':
      throw new TroupeError('internal', `Troupe has given up: it crashed ${end.crashes} times in a row, at last with ${end.last}.`, {
        remedy: `${suspected(end.changed)}Disable the one that you suspect: troupe extensions disable ID. Then start again.`,
      })
    default:
      return end satisfies never
  }
}

const suspected = (changed: readonly string[]): string =>
  changed.length > 0 ? `New or changed extensions: ${changed.join(', ')}. ` : 'List the extensions: troupe extensions list. '
