import type { DemoInvocation } from '../../arguments/parse-arguments.ts'
import type { ServeInvocation } from '../../arguments/serve-invocations.ts'
import { exitCodes } from '../../terminal/exit-codes.ts'
import { mayOpenBrowser } from '../../terminal/open-browser.ts'
import type { Host } from '../../terminal/process-host.ts'
import { type ServeHost, serveCommand } from '../serve/serve-command.ts'
import { keepServing, serverVariable } from './keep-serving.ts'
import { openWebDemo } from './web-demo.ts'

/**
 * `troupe demo --web`: serves the demonstration as `troupe serve` does, for this machine only. A signal is its planned end. The server
 * is a process of its own, which this one starts again when it is killed.
 */
export async function webDemoCommand(
  invocation: DemoInvocation,
  argv: readonly string[],
  { host, interruption }: ServeHost,
): Promise<number> {
  const { web } = invocation
  const role = host.env[serverVariable]
  if (role === undefined) {
    // Problems are reported once, by this process.
    openWebDemo(web?.dataDir, { env: host.env, isAgain: false })
    return planned(await keepServing(argv, { host, interruption }))
  }
  endWithParent()
  const demo = openWebDemo(web?.dataDir, { env: host.env, isAgain: role === 'again' })
  // The working directory is the workspace of the agents.
  process.chdir(demo.workspace)
  return planned(await serveCommand(served(invocation, demo, host), { host, interruption, demo }))
}

const planned = (code: number): number =>
  code === exitCodes.interrupted.code || code === exitCodes.terminated.code ? exitCodes.done.code : code

/** Nobody would end a server whose parent was killed. */
function endWithParent(): void {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel?.unref()
}

function served(
  { output, display, web }: DemoInvocation,
  { agents, sessions, isAgain }: Pick<ReturnType<typeof openWebDemo>, 'agents' | 'sessions' | 'isAgain'>,
  host: Host,
): ServeInvocation {
  return {
    kind: 'serve',
    agents: [agents],
    host: '127.0.0.1',
    port: web?.port,
    drain: '5s',
    isStdio: false,
    hasLegacyTransports: false,
    opens: !isAgain && (web?.opens ?? false) && mayOpenBrowser(host),
    dataDir: sessions,
    isTrusted: false,
    allow: [],
    deny: [],
    ...{ output, display, logFormat: display.logFormat },
    configFile: undefined,
  }
}
