import { createInterface } from 'node:readline'
import type { TerminalPort } from '../../../contracts/index.ts'
import { connectSupervisor, type KernelSetup, readSupervisorState, type SupervisedKernel } from '../../../kernel/supervisor/index.ts'
import type { UpInvocation } from '../../arguments/serve-invocations.ts'
import { Interruption } from '../../terminal/interruption.ts'
import type { Host } from '../../terminal/process-host.ts'
import { serveCommand } from '../serve/serve-command.ts'
import { displayOf, serveLog } from '../serve/serve-log.ts'

/** The kernel process of `troupe up`: `serve` with the kernel, which ends when its supervisor says so. */
export function runKernel({ serve, watches, display }: UpInvocation, setup: KernelSetup, given: Host): Promise<number> {
  const terminal = terminalOf(given)
  const invocation = {
    ...serve,
    // A restart trusts nothing: the files may have changed since the person said so.
    isTrusted: serve.isTrusted && setup.isFirst,
    // The conversation has the terminal.
    ...(terminal && display.detail === 'normal' && { display: { ...display, detail: 'quiet' as const } }),
  }
  const log = serveLog(given, displayOf(invocation, given))
  const supervisor = connectSupervisor(setup, (error) => log.failure(error))
  const host = withSupervisor(given, supervisor)
  const { quarantined } = readSupervisorState(setup.folder)
  const supervisorId = `${setup.folder} ${process.ppid}`
  const { held, isFirst } = setup
  const kernelHost = { supervisor, supervisorId, quarantined, held, isFirst, watches, ...(terminal && { terminal }) }
  return serveCommand(invocation, { host, interruption: new Interruption(host), kernelHost })
}

/** A signal to this process, or a closed output, stops the supervisor, too. It then asks this process to end. */
function withSupervisor(host: Host, supervisor: SupervisedKernel): Host {
  return {
    ...host,
    // The terminal may be resized.
    get width() {
      return host.width
    },
    onInterrupt(listener) {
      supervisor.onStop(() => listener('terminated'))
      return host.onInterrupt((request) => void supervisor.requestShutdown(request))
    },
  }
}

function terminalOf({ stdin, stdout }: Host): TerminalPort | undefined {
  if (stdin.isTTY !== true || process.stdout.isTTY !== true) return undefined
  return {
    // The terminal itself has the keys for editing a line, and echoes them.
    input: { [Symbol.asyncIterator]: () => createInterface({ input: stdin, terminal: false })[Symbol.asyncIterator]() },
    write: (text) => void stdout.write(text),
  }
}
