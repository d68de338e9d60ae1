/** What sandboxed commands may do. */
export interface SandboxPolicy {
  /** `required`: commands run sandboxed or fail. `off`: they run without a sandbox, and the journal records it. */
  readonly mode: 'required' | 'off'
  /** Hosts that commands may reach over HTTP and HTTPS: `example.com`, `*.example.com`. All other network access is blocked. */
  readonly hosts: readonly string[]
  /** Those of `hosts` that may also resolve to a private address, such as `registry.example.com`. */
  readonly privateHosts: readonly string[]
  /** Writable folders besides the workspace. */
  readonly writable: readonly string[]
  /** Names of session variables that commands get. */
  readonly environment: readonly string[]
  /** Memory limit in bytes for all processes of a command together. */
  readonly memory: number
  /** Maximum number of processes and threads of a command. */
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

/** How a call is confined. Tools that start processes must respect it. */
export type Confinement = { readonly kind: 'none' } | { readonly kind: 'sandbox'; readonly name: string; readonly policy?: SandboxPolicy }

/** How calls are confined. A tool that the sandbox stops fails with class `sandbox` and may run again outside if approved. */
export interface Sandbox {
  readonly confinement: Confinement
}
