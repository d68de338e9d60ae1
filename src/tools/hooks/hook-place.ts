import type { Clock } from '../../contracts/index.ts'
import type { TrustedFiles } from './hook-files.ts'

/** What hooks are started with. */
export interface HookPlace {
  /** Paths are relative to this folder, and commands run in it. */
  readonly baseDir: string
  /** Every variable that commands and modules get, besides `TROUPE_HOOK`, by which what they start is found. */
  readonly environment: { readonly [name: string]: string }
  readonly clock: Clock
  /** Where the definitions stand, for problems. Default `hooks`. */
  readonly place?: string
  /** A hook that names other files than these fails, whenever it is asked. Default: nobody looks. */
  readonly trusted?: TrustedFiles
  /** Folders that agents may write to, without links: a program that is found by its name must not be there. Default: none. */
  readonly writable?: readonly string[]
}
