import { exitCodes } from '../host/exit-codes.ts'
import { mayOpenBrowser } from '../host/open-browser.ts'
import type { DemoInvocation } from '../options/parse-arguments.ts'
import { type ServeHost, serveCommand } from '../serve/serve-command.ts'
import { openWebDemo } from './web-demo.ts'

/** `troupe demo --web`: serves the demonstration as `troupe serve` does, for this machine only. A signal is its planned end. */
export async function webDemoCommand(
  { output, display }: DemoInvocation,
  { port, dataDir, opens }: NonNullable<DemoInvocation['web']>,
  { host, interruption }: ServeHost,
): Promise<number> {
  const demo = openWebDemo(dataDir, host)
  // The working directory is the workspace of the agents.
  process.chdir(demo.workspace)
  const code = await serveCommand(
    {
      kind: 'serve',
      agents: [demo.agents],
      host: '127.0.0.1',
      port,
      drain: '5s',
      isStdio: false,
      hasLegacyTransports: false,
      opens: opens && mayOpenBrowser(host),
      dataDir: demo.sessions,
      isTrusted: false,
      allow: [],
      deny: [],
      ...{ output, display, logFormat: display.logFormat },
      configFile: undefined,
    },
    { host, interruption, demo },
  )
  return code === exitCodes.interrupted.code || code === exitCodes.terminated.code ? exitCodes.done.code : code
}
