import type { Clock, Tool } from '../../../src/contracts/index.ts'
import { shellTool } from '../../../src/tools/builtin/shell/shell-tool.ts'
import type { Ending } from '../../../src/tools/sandbox/index.ts'

/** The shell, with a sandbox that runs nothing: each command goes on until it is asked to end. */
export function endlessShell(clock: Clock): Tool {
  const start = async () => {
    const { promise, resolve } = Promise.withResolvers<Ending>()
    const end = (): void => resolve({ exitCode: null, signal: 'SIGTERM', refusedHosts: [], readOnly: [] })
    return { ok: true, running: { listen: () => {}, ended: promise, terminate: end, kill: end } } as const
  }
  return shellTool({
    root: import.meta.dirname,
    path: '/usr/bin:/bin',
    home: '/nowhere',
    clock,
    isConfined: true,
    sandbox: { name: 'endless', probe: async () => ({ kind: 'available', weaknesses: [] }), start },
  })
}
