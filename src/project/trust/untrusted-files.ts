import type { PendingFile } from '../config/config.ts'
import type { FileState } from '../config/trust/trust-records.ts'
import type { Registry } from '../registry/load-registry.ts'
import type { Setup } from '../setup/read-setup.ts'

/** An untrusted file, and the parts of it that are ignored until it is trusted. */
export interface UntrustedFile extends FileState {
  readonly kind: PendingFile['kind'] | 'agent of another program' | 'module with tools' | 'agent with MCP servers'
  readonly withheld: readonly string[]
  /** The content of each part, if known. */
  readonly contents?: readonly (readonly string[])[]
  /** More parts are withheld than listed. */
  readonly isPartial?: true
  /** Files that are trusted with it. */
  readonly imports?: readonly FileState[]
}

export const withImports = (file: UntrustedFile): readonly FileState[] => [file, ...(file.imports ?? [])]

export function untrustedFiles({ config }: Setup, { untrusted, untrustedModules, untrustedServers }: Registry): readonly UntrustedFile[] {
  return [
    ...config.pending,
    ...untrusted.map(
      (file): UntrustedFile => ({ ...file, kind: 'agent of another program', withheld: ['tools that change something', 'servers'] }),
    ),
    ...untrustedServers.map(
      ({ contents, ...state }): UntrustedFile => ({
        ...state,
        kind: 'agent with MCP servers',
        withheld: ['mcpServers'],
        contents: [contents],
      }),
    ),
    ...untrustedModules.flatMap(({ at, files: [module, ...imports] }): readonly UntrustedFile[] => {
      const withheld = [`tools, named in ${at.place} – run code with all your permissions`]
      const files = imports.map(({ path }) => `imports ${path}, which is trusted with it`)
      return module ? [{ ...module, kind: 'module with tools', withheld, contents: [files], imports }] : []
    }),
  ]
}
