import { BubblewrapSandbox } from './bubblewrap-sandbox.ts'
import type { ProcessSandbox, ProcessSandboxOptions } from './sandbox-types.ts'
import { SeatbeltSandbox } from './seatbelt-sandbox.ts'
import { switchOff, unavailable } from './unavailable.ts'

/**
 * Walls around commands: the system read-only, one workspace, no network but named hosts, limits, and nobody left when
 * the command ends. Bubblewrap on Linux; sandbox-exec on macOS, which nobody has tried yet.
 */
export function processSandbox(options: ProcessSandboxOptions): ProcessSandbox {
  const platform = options.platform ?? process.platform
  if (platform === 'linux') return new BubblewrapSandbox(options)
  if (platform === 'darwin') return new SeatbeltSandbox(options)
  const missing = unavailable(`Commands need a sandbox, and there is none for this system (${platform}).`, switchOff)
  return {
    name: 'none',
    probe: async () => missing,
    start: async () => ({ ok: false, failure: missing.failure }),
  }
}
