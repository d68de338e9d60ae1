import type { SessionService } from '../../../contracts/index.ts'
import type { FileState } from '../../../project/index.ts'
import type { ServedDemo } from '../../../server/index.ts'
import type { DemoFacts } from './serve-banner.ts'

/** What `troupe demo --web` serves: agents of this package, which work in a folder of their own. */
export interface WebDemo {
  readonly models: ServedDemo
  readonly facts: DemoFacts
  /** Started again after its process was killed: everything was said before. */
  readonly isAgain: boolean
  /** The tools belong to this program. */
  loading(): { readonly alsoTrusted: readonly FileState[] }
  /** The server listens. Runs the sample sessions if there are no sessions yet. */
  listening(port: number, sessions: SessionService): Promise<void>
}
