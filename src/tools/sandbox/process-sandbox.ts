import { BubblewrapSandbox } from './bubblewrap-sandbox.ts'
import type { ProcessSandbox, ProcessSandboxOptions } from './sandbox-types.ts'
import { SeatbeltSandbox } from './seatbelt-sandbox.ts'
import { sandboxUnavailable, switchOff } from './unavailable.ts'

/**
 * The sandbox for commands: the system is read-only, one workspace is writable, the network is limited to listed hosts, and no
 * process survives. Bubblewrap on Linux; sandbox-exec on macOS, which has not been tested on a Mac.
 */
export function processSandbox(options: ProcessSandboxOptions): ProcessSandbox {
  const platform = options.platform ?? process.platform
  if (platform === 'linux') return new BubblewrapSandbox(options)
  if (platform === 'darwin') return new SeatbeltSandbox(options)
  const missing = sandboxUnavailable(`Commands need a sandbox, and this system (${platform}) has none.`, switchOff)
  return {
    name: 'none',
    probe: async () => missing,
    start: async () => ({ ok: false, failure: missing.failure }),
  }
}
