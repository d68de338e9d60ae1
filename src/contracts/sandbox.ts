/** What commands may do. */
export interface SandboxPolicy {
  /** `required`: without a sandbox no command runs. `off`: they run without walls, and the journal says so. */
  readonly mode: 'required' | 'off'
  /** Hosts that may be reached over HTTP and HTTPS: `example.com`, `*.example.com`. Nothing else of the network is. */
  readonly hosts: readonly string[]
  /** Those of `hosts` that may also resolve to a private address, such as `registry.internal`. */
  readonly privateHosts: readonly string[]
  /** Further folders that may be written to, besides the workspace. */
  readonly writable: readonly string[]
  /** Variables of the session that commands are given, by name. */
  readonly environment: readonly string[]
  /** Bytes that all processes of a command may use together. */
  readonly memory: number
  /** Processes and threads of a command. */
  readonly processes: number
}

export const defaultSandboxPolicy: SandboxPolicy = {
  mode: 'required',
  hosts: [],
  privateHosts: [],
  writable: [],
  environment: [],
  memory: 2 * 1024 ** 3,
  processes: 256,
}
