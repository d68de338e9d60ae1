import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../../project/index.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { printError } from '../../terminal/print-messages.ts'
import type { ServeHost } from '../serve/serve-command.ts'

// The parent process of the demonstration: it keeps a server running, so that people can pull its plug.
//
// 1. A server that was killed is started again with the same port and data folder. Its sessions continue there.
// 2. A server that ends by itself, such as for wrong settings, ends this process with its exit code.
// 3. A request to end ends the server first. It has a process group of its own: Ctrl-C reaches it through this process only.
// 4. If this process is killed, the channel to it closes, and the server ends itself.

/** Set for the server: `first`, or `again` after it was killed. */
export const serverVariable = '_TROUPE_DEMO_SERVER'

/** A server that has not ended by then is killed. Turns have five seconds. */
const endMs = 8_000
/** Servers that were killed before they listened. */
const maxEarlyEnds = 5

type Told = { readonly kind: 'listening'; readonly port: number } | { readonly kind: 'pull-plug' }

/** Resolves with the exit code when no server is left. */
export async function keepServing(
  argv: readonly string[],
  { host, interruption }: Pick<ServeHost, 'host' | 'interruption'>,
): Promise<number> {
  let port: number | undefined
  let earlyEnds = 0
  for (;;) {
    const server = startServer(argv, port)
    let isListening = false
    server.on('message', (told: Told) => {
      if (told.kind === 'pull-plug') return void server.kill('SIGKILL')
      port = told.port
      isListening = true
    })
    const stopEnding = endOnRequest(server, interruption.signal)
    const [code, signal] = (await once(server, 'exit')) as [number | null, NodeJS.Signals | null]
    stopEnding()
    if (interruption.request !== undefined) return exitCodes[interruption.request].code
    if (signal === null) return code ?? exitCodes.failed.code
    earlyEnds = isListening ? 0 : earlyEnds + 1
    if (earlyEnds < maxEarlyEnds) continue
    const message = `The server of the demonstration was ended ${earlyEnds} times before it listened (${signal}).`
    await printError(
      { message, remedy: 'Start it again.', problems: [] },
      { host, display: { detail: 'normal', logFormat: 'text', color: 'auto' } },
    )
    return exitCodes.failed.code
  }
}

function startServer(argv: readonly string[], port: number | undefined): ChildProcess {
  const again = port === undefined ? [] : ['--port', String(port)]
  return spawn(
    process.execPath,
    [...process.execArgv, fileURLToPath(packageFile('bin/troupe.mjs')), ...withoutPort(argv, port), ...again],
    {
      env: { ...process.env, [serverVariable]: port === undefined ? 'first' : 'again' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      detached: true,
    },
  )
}

/** The port that was chosen replaces the one that was asked for. */
const withoutPort = (argv: readonly string[], port: number | undefined): readonly string[] =>
  port === undefined ? argv : argv.filter((word, index) => !/^--port(=|$)/.test(word) && argv[index - 1] !== '--port')

/** Returns a function that ends the watch. */
function endOnRequest(server: ChildProcess, signal: AbortSignal): () => void {
  let timer: NodeJS.Timeout | undefined
  const end = (): void => {
    server.kill('SIGTERM')
    timer = setTimeout(() => server.kill('SIGKILL'), endMs)
  }
  if (signal.aborted) end()
  else signal.addEventListener('abort', end)
  return () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
  }
}
